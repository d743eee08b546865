import { flag } from '../command/flags.js';
import type { View } from './view.js';

const settingExplain = {
  value: 'New value',
  key: 'profile, autostart, ca_file, confirm_credits, credential_store, or base_url, allow_http or naming of profiles.<name>, such as profiles.work.base_url',
};

const config = { module: 'config', local: true } as const;

function completionCommand(shell: string, name: string, examples: readonly string[]): View {
  return {
    usage: `completion ${shell}`,
    module: 'completion',
    local: true,
    summary: `Print the completion script for ${name}`,
    examples,
  };
}

/** Commands about the program itself. */
export const programViews: readonly View[] = [
  { usage: 'config get <key>', ...config, summary: 'Print one setting', explain: settingExplain },
  {
    usage: 'config set <key> <value>',
    ...config,
    summary: 'Change a setting',
    explain: settingExplain,
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
    explain: settingExplain,
  },
  {
    usage: 'config list',
    ...config,
    summary: 'List every setting and where its value comes from',
    shape: { columns: ['key', 'value', 'source'] },
  },
  { usage: 'config path', ...config, summary: 'Print the path of the settings file' },
  {
    usage: 'doctor',
    module: 'doctor',
    summary: 'Check the settings, service, clock, credential, proxy, folders and terminal, and suggest fixes',
    shape: { columns: ['check', 'status', 'detail', 'advice'] },
    examples: ['regen doctor', 'regen doctor --base-url https://registry.example.com --json'],
  },
  completionCommand('bash', 'bash', [
    'source <(regen completion bash)',
    'regen completion bash > ~/.local/share/bash-completion/completions/regen',
  ]),
  completionCommand('zsh', 'zsh', [
    'source <(regen completion zsh)',
    `regen completion zsh > "\${fpath[1]}/_regen"`,
  ]),
  completionCommand('fish', 'fish', ['regen completion fish > ~/.config/fish/completions/regen.fish']),
  completionCommand('powershell', 'PowerShell', [
    'regen completion powershell | Out-String | Invoke-Expression',
  ]),
  {
    usage: 'schema [command...]',
    module: 'schema',
    local: true,
    summary: 'Print the JSON Schema of what a command prints with --json, or of the request that it sends',
    explain: { command: "The command without its arguments, or 'error' (default: list the commands)" },
    flags: [flag('--input', 'The schema of the request body, with the rules of each model')],
    shape: { columns: ['command', 'schema'] },
    examples: [
      'regen schema version check',
      'regen schema video text2video --input',
      'regen schema error',
      'regen schema --json',
    ],
  },
];
