import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MAX_GIVEN_BYTES, readFolderFile } from '../../disk/folder-file.js';
import type { System } from '../terminal/system.js';

/** The startup file of a shell, and the line that loads the completion. */
interface Startup {
  readonly path: (system: System) => string;
  readonly line: string;
}

const readConfig = ({ env, home }: System) => env.XDG_CONFIG_HOME || join(home, '.config');

const STARTUPS: Readonly<Record<string, Startup>> = {
  bash: {
    path: ({ home, platform }) => join(home, platform === 'darwin' ? '.bash_profile' : '.bashrc'),
    line: 'if command -v regen >/dev/null; then source <(regen completion bash); fi',
  },
  zsh: {
    path: ({ env, home }) => join(env.ZDOTDIR || home, '.zshrc'),
    line: 'if command -v regen >/dev/null; then whence compdef >/dev/null || { autoload -Uz compinit && compinit }; source <(regen completion zsh); fi',
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

export const SHELLS = Object.keys(STARTUPS);

/** The startup file of a shell, and whether it loads the completion. */
export interface ShellStartup {
  readonly shell: string;
  readonly path: string;
  readonly line: string;
  /** What the file has. */
  readonly text: string;
  readonly isOn: boolean;
}

/**
 * Finds the startup file of a shell.
 * @param given its name; by default that of the shell in use
 * @returns undefined if there is no completion for it
 */
export function findStartup(system: System, given?: string): ShellStartup | undefined {
  const { env, platform } = system;
  const shell = given ?? (basename(env.SHELL ?? '') || (platform === 'win32' ? 'powershell' : ''));
  const name = shell === 'pwsh' ? 'powershell' : shell;
  if (!Object.hasOwn(STARTUPS, name)) return undefined;
  const { path: findPath, line } = STARTUPS[name] as Startup;
  const path = findPath(system);
  const text = existsSync(path) ? readFolderFile(path, MAX_GIVEN_BYTES).toString() : '';
  return { shell: name, path, line, text, isOn: text.split(/\r?\n/).includes(line) };
}
