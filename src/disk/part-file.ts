import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, rmSync, type WriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { hasEnded, readStart } from './process-identity.js';

const PATTERN = /^\.regen-([0-9a-f]{8})-(\d{1,10})-([0-9a-f]{8})-[0-9a-f]{8}\.part$/;
const swept = new Set<string>();

/**
 * Names a temporary file beside the one it will become. The first call for a folder removes what processes of this
 * machine left there when they were killed.
 */
export function createPartPath(folder: string): string {
  if (!swept.has(folder)) removeLeftovers(folder);
  swept.add(folder);
  const start = toShortHash(readStart(process.pid) ?? '');
  const name = `.regen-${toShortHash(hostname())}-${process.pid}-${start}-${randomBytes(4).toString('hex')}.part`;
  return join(folder, name);
}

/**
 * Creates a file that did not exist, and opens it for writing. It exists when this returns, so that its removal after a
 * failure finds it, while `createWriteStream` may create it later.
 */
export async function createFile(
  path: string,
  { mode, ...options }: { readonly mode?: number; readonly highWaterMark?: number } = {},
): Promise<WriteStream> {
  return (await open(path, 'wx', mode)).createWriteStream(options);
}

export function isPartFile(name: string): boolean {
  return PATTERN.test(name);
}

function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, host, pid, start] = PATTERN.exec(name) ?? [];
    if (host !== toShortHash(hostname())) continue;
    const now = readStart(Number(pid));
    const isOver = now === undefined ? hasEnded(Number(pid)) : toShortHash(now) !== start;
    try {
      if (isOver) rmSync(join(folder, name));
    } catch {
      // Another user's, or another command has removed it.
    }
  }
}

function toShortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
