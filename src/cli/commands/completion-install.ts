import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { MAX_GIVEN_BYTES, readFolderFile } from '../../disk/folder-file.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import { Text } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'args' | 'flags' | 'system' | 'output'>;

export const view = (): View => ({
  usage: 'completion install [shell]',
  local: true,
  summary: "Turn on completion in your shell, with one line in the shell's startup file",
  explain: { shell: 'bash, zsh, fish or powershell (default: the shell in use)' },
  flags: { '--dry-run': 'Print the line and its file, and change nothing' },
  examples: ['regen completion install', 'regen completion install zsh --dry-run'],
  answer: z.object({ shell: Text, path: Text, line: Text }),
});

/** The startup file of a shell, and the line that loads the completion. */
interface Startup {
  readonly path: (system: System) => string;
  readonly line: string;
}

const readConfig = ({ env, home }: System) => env.XDG_CONFIG_HOME || join(home, '.config');

const STARTUPS: Readonly<Record<string, Startup>> = {
  bash: {
    path: ({ home, platform }) => join(home, platform === 'darwin' ? '.bash_profile' : '.bashrc'),
    line: 'command -v regen >/dev/null && source <(regen completion bash)',
  },
  zsh: {
    path: ({ env, home }) => join(env.ZDOTDIR || home, '.zshrc'),
    line: 'command -v regen >/dev/null && { whence compdef >/dev/null || { autoload -Uz compinit && compinit }; source <(regen completion zsh) }',
  },
  fish: {
    path: (system) => join(readConfig(system), 'fish', 'config.fish'),
    line: 'command -q regen; and regen completion fish | source',
  },
  powershell: {
    path: (system) =>
      system.platform === 'win32'
        ? join(system.home, 'Documents', 'PowerShell', 'Microsoft.PowerShell_profile.ps1')
        : join(readConfig(system), 'powershell', 'Microsoft.PowerShell_profile.ps1'),
    line: 'if (Get-Command regen -ErrorAction SilentlyContinue) { regen completion powershell | Out-String | Invoke-Expression }',
  },
};

export async function run({ args, flags, system, output }: Context): Promise<void> {
  const shell = chooseShell(args.shell as string | undefined, system);
  const { path: findPath, line } = STARTUPS[shell] as Startup;
  const path = findPath(system);
  const text = existsSync(path) ? readFolderFile(path, MAX_GIVEN_BYTES).toString() : '';
  const isThere = text.split(/\r?\n/).includes(line);
  if (!isThere && !flags['dry-run']) {
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(
      path,
      `${text === '' || text.endsWith('\n') ? '' : '\n'}\n# Completion of regen\n${line}\n`,
    );
  }
  await output.answer({ shell, path, line }, system.stdout.isTTY ? {} : { only: 'path' });
  if (flags['dry-run']) return output.note(isThere ? 'The line is already there.' : 'Nothing was changed.');
  await output.note(
    isThere
      ? `Completion was already on in ${path}.`
      : `Added a line to ${path}. Open a new terminal to use it.`,
  );
}

function chooseShell(given: string | undefined, { env, platform }: System): string {
  const shell = given ?? (basename(env.SHELL ?? '') || (platform === 'win32' ? 'powershell' : ''));
  const name = shell === 'pwsh' ? 'powershell' : shell;
  if (Object.hasOwn(STARTUPS, name)) return name;
  throw usage(
    given === undefined ? 'The shell in use is not known.' : `There is no completion for '${given}'.`,
    `Name it: ${Object.keys(STARTUPS).join(', ')}.`,
  );
}
