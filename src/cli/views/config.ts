import type { View } from './view.js';

const explain = {
  value: 'New value',
  key: 'profile, autostart, ca_file, confirm_credits, credential_store, or base_url, allow_http or naming of profiles.<name>, such as profiles.work.base_url',
};

export const configViews: readonly View[] = [
  { usage: 'config get <key>', module: 'config', local: true, summary: 'Print one setting', explain },
  {
    usage: 'config set <key> <value>',
    module: 'config',
    local: true,
    summary: 'Change a setting',
    explain,
    examples: [
      'regen config set profiles.team.base_url https://registry.example.com',
      'regen config set profile team',
      'regen config set confirm_credits 50',
    ],
  },
  {
    usage: 'config unset <key>',
    module: 'config',
    local: true,
    summary: 'Reset a setting to its default',
    explain,
  },
  {
    usage: 'config list',
    module: 'config',
    local: true,
    summary: 'List every setting and where its value comes from',
    shape: { columns: ['key', 'value', 'source'] },
  },
  { usage: 'config path', module: 'config', local: true, summary: 'Print the path of the settings file' },
];
