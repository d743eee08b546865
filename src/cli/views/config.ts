import type { View } from './view.js';

const explain = {
  value: 'New value',
  key: 'profile, autostart, ca_file, confirm_credits, credential_store, or base_url, allow_http or naming of profiles.<name>, such as profiles.work.base_url',
};

const config = { module: 'config', local: true } as const;

export const configViews: readonly View[] = [
  { usage: 'config get <key>', ...config, summary: 'Print one setting', explain },
  {
    usage: 'config set <key> <value>',
    ...config,
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
    ...config,
    summary: 'Reset a setting to its default',
    explain,
  },
  {
    usage: 'config list',
    ...config,
    summary: 'List every setting and where its value comes from',
    shape: { columns: ['key', 'value', 'source'] },
  },
  { usage: 'config path', ...config, summary: 'Print the path of the settings file' },
];
