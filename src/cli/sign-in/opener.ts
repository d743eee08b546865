import { spawn } from 'node:child_process';
import type { System } from '../terminal/system.js';

type Surroundings = Pick<System, 'env' | 'platform'>;

/** Whether a browser can be expected here: not behind a remote shell, and not without a screen. */
export function hasBrowser({ env, platform }: Surroundings): boolean {
  if (env.BROWSER) return true;
  if (env.SSH_CONNECTION || env.SSH_TTY) return false;
  return platform === 'darwin' || platform === 'win32' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
}

/** The program that opens an address, as words: no shell ever reads the address. */
function chooseOpener({ env, platform }: Surroundings, address: string): [string, ...string[]] {
  const [chosen = ''] = (env.BROWSER ?? '').split(platform === 'win32' ? ';' : ':');
  const [program, ...words] = chosen.split(/\s+/).filter(Boolean);
  if (program) {
    const filled = words.map((word) => word.replaceAll('%s', address));
    return [program, ...filled, ...(chosen.includes('%s') ? [] : [address])];
  }
  if (platform === 'darwin') return ['open', address];
  // `start` is a word of the Windows shell, to which an address means more than an address.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', address];
  return ['xdg-open', address];
}

/** Opens an address in the person's browser; where that fails, the address stands on the screen already. */
export function openBrowser(system: Surroundings, address: string): void {
  const [program, ...words] = chooseOpener(system, address);
  spawn(program, words, { detached: true, stdio: 'ignore', windowsHide: true })
    .once('error', () => {})
    .unref();
}
