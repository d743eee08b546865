import { spawn } from 'node:child_process';
import type { System } from '../terminal/system.js';

type BrowserSystem = Pick<System, 'env' | 'platform'>;

/** Whether a browser can be expected: not in a remote shell, and not without a display. */
export function hasBrowser({ env, platform }: BrowserSystem): boolean {
  if (env.BROWSER) return true;
  if (env.SSH_CONNECTION || env.SSH_TTY) return false;
  return platform === 'darwin' || platform === 'win32' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
}

/** Chooses the program that opens an address, as separate words, so that no shell parses the address. */
function chooseOpener({ env, platform }: BrowserSystem, address: string): [string, ...string[]] {
  const [chosen = ''] = (env.BROWSER ?? '').split(platform === 'win32' ? ';' : ':');
  const [program, ...words] = chosen.split(/\s+/).filter(Boolean);
  if (program) {
    const filled = words.map((word) => word.replaceAll('%s', address));
    return [program, ...filled, ...(chosen.includes('%s') ? [] : [address])];
  }
  if (platform === 'darwin') return ['open', address];
  // `start` needs the Windows shell, which would interpret special characters of the address.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', address];
  return ['xdg-open', address];
}

/** Opens an address in the user's browser. Failures are ignored, because the address is on the screen already. */
export function openBrowser(system: BrowserSystem, address: string): void {
  const [program, ...words] = chooseOpener(system, address);
  spawn(program, words, { detached: true, stdio: 'ignore', windowsHide: true })
    .once('error', () => {})
    .unref();
}
