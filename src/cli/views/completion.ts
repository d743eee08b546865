import type { View } from './view.js';

function completionCommand(shell: string, name: string, examples: readonly string[]): View {
  return {
    usage: `completion ${shell}`,
    module: 'completion',
    local: true,
    summary: `Print the completion script for ${name}`,
    examples,
  };
}

export const completionViews: readonly View[] = [
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
];
