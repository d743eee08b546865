import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findBuiltProgram } from '../../disk/built-program.js';
import type { Needs } from '../connect/context.js';
import type { View } from '../views/view.js';

function describeCommand(shell: string, name: string, examples: readonly string[]): View {
  const summary = `Print the completion script for ${name}`;
  return { usage: `completion ${shell}`, local: true, summary, examples };
}

export const view = (): View[] => [
  describeCommand('bash', 'bash', [
    'source <(regen completion bash)',
    'regen completion bash > ~/.local/share/bash-completion/completions/regen',
  ]),
  describeCommand('zsh', 'zsh', [
    'source <(regen completion zsh)',
    `regen completion zsh > "\${fpath[1]}/_regen"`,
  ]),
  describeCommand('fish', 'fish', ['regen completion fish > ~/.config/fish/completions/regen.fish']),
  describeCommand('powershell', 'PowerShell', [
    'regen completion powershell | Out-String | Invoke-Expression',
  ]),
];

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: 'regen.bash',
  zsh: '_regen',
  fish: 'regen.fish',
  powershell: 'regen.ps1',
};

export async function run({ command, output }: Needs<'command' | 'output'>): Promise<void> {
  const name = SCRIPTS[command.words.at(-1) as string] as string;
  const folder = join(findBuiltProgram('commands'), '../../completions');
  await output.write(readFileSync(join(folder, name), 'utf8'));
}
