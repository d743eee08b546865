import { spawn } from 'node:child_process';
import { isAbsolute } from 'node:path';
import { findProgram, removeSecrets, splitCommand } from '../terminal/programs.js';
import type { System } from '../terminal/system.js';

type BrowserSystem = Pick<System, 'env' | 'platform'>;

/** Whether a browser can be expected: not in a remote shell, and not without a display. */
export function hasBrowser({ env, platform }: BrowserSystem): boolean {
  if (env.BROWSER) return true;
  if (env.SSH_CONNECTION || env.SSH_TTY) return false;
  return platform === 'darwin' || platform === 'win32' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
}

/**
 * Chooses the program that opens a web address or a saved file, as separate words, so that no shell parses the address.
 * Other addresses may come from a service, and could start any program.
 * @returns the program and its arguments; nothing if there is none
 */
export function chooseOpener(system: BrowserSystem, address: string, find = findProgram): readonly string[] {
  const { env, platform } = system;
  if (!/^https?:\/\//i.test(address) && !isAbsolute(address)) return [];
  const [chosen = ''] = (env.BROWSER ?? '').split(platform === 'win32' ? ';' : ':');
  const [name, ...words] = splitCommand(chosen);
  if (name !== undefined) {
    const program = find(name, system);
    const filled = words.map((word) => word.replaceAll('%s', address));
    return program ? [program, ...filled, ...(chosen.includes('%s') ? [] : [address])] : [];
  }
  // `start` needs the Windows shell, which would interpret special characters of the address.
  if (platform === 'win32') {
    const folder = env.SYSTEMROOT ?? 'C:\\Windows';
    return [`${folder}\\System32\\rundll32.exe`, 'url.dll,FileProtocolHandler', address];
  }
  const program = find(platform === 'darwin' ? 'open' : 'xdg-open', system);
  return program ? [program, address] : [];
}

/** Opens an address in the user's browser. Failures are ignored, because the address is on the screen already. */
export function openBrowser(system: BrowserSystem, address: string): void {
  const [program, ...words] = chooseOpener(system, address);
  if (program === undefined) return;
  spawn(program, words, {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    env: removeSecrets(system.env),
  })
    .once('error', () => {})
    .unref();
}
