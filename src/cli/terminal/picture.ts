import { pathToFileURL } from 'node:url';
import { readFolderFile } from '../../disk/folder-file.js';
import type { System } from './system.js';
import { isPlain } from './text.js';

type Env = System['env'];

/** Makes text a link to a file, if the terminal is known to support links. */
export function formatLink(env: Env, text: string, path: string): string {
  return supportsLinks(env) ? `\x1b]8;;${pathToFileURL(path).href}\x1b\\${text}\x1b]8;;\x1b\\` : text;
}

function supportsLinks(env: Env): boolean {
  if (env.TMUX || isPlain(env) || env.CI) return false;
  return (
    Number(env.VTE_VERSION) >= 5000 ||
    Boolean(env.KITTY_WINDOW_ID || env.WT_SESSION || env.KONSOLE_VERSION) ||
    ['iTerm.app', 'WezTerm', 'vscode', 'ghostty'].includes(env.TERM_PROGRAM ?? '')
  );
}

const PICTURE_COLUMNS = 48;
/** A larger file would take seconds to arrive over a remote shell. */
const MAX_PICTURE_BYTES = 8 * 1024 ** 2;
const KITTY_CHUNK = 4096;

/** Draws a saved picture below its path, if the terminal is known to show pictures. */
export function drawPicture(env: Env, path: string, bytes: number): string | undefined {
  if (env.TMUX || isPlain(env) || bytes > MAX_PICTURE_BYTES) return undefined;
  const isPng = /\.png$/i.test(path);
  if ((env.KITTY_WINDOW_ID || env.TERM_PROGRAM === 'ghostty') && isPng) return formatKitty(readBase64(path));
  if (['iTerm.app', 'WezTerm'].includes(env.TERM_PROGRAM ?? '') && /\.(png|jpe?g|webp|gif)$/i.test(path))
    return `\x1b]1337;File=inline=1;width=${PICTURE_COLUMNS};preserveAspectRatio=1:${readBase64(path)}\x07`;
  return undefined;
}

function readBase64(path: string): string {
  return readFolderFile(path, MAX_PICTURE_BYTES).toString('base64');
}

/** https://sw.kovidgoyal.net/kitty/graphics-protocol: PNG data in chunks. */
function formatKitty(base64: string): string {
  const chunks = base64.match(new RegExp(`.{1,${KITTY_CHUNK}}`, 'g')) ?? [];
  return chunks
    .map((chunk, at) => {
      const first = at === 0 ? `f=100,a=T,c=${PICTURE_COLUMNS},` : '';
      return `\x1b_G${first}m=${at < chunks.length - 1 ? 1 : 0};${chunk}\x1b\\`;
    })
    .join('');
}
