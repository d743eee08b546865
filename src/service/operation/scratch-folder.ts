import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from './context.js';

export interface ScratchFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** Creates a folder for temporary files, until `remove`; after a crash the next start removes it. */
export function createScratchFolder(context: Pick<Context, 'scratch'>): ScratchFolder {
  const folder = nameScratchFolder(context);
  mkdirSync(folder.path, { recursive: true, mode: 0o700 });
  return folder;
}

/** The same, but what needs the folder creates it. */
export function nameScratchFolder({ scratch }: Pick<Context, 'scratch'>): ScratchFolder {
  const path = join(scratch, randomUUID());
  return { path, remove: () => removeFolder(path) };
}

/** Most hold a file or none, for which `rm` takes several times as long. */
async function removeFolder(path: string): Promise<void> {
  if (!existsSync(path)) return;
  try {
    for (const name of readdirSync(path)) await unlink(join(path, name));
    rmdirSync(path);
  } catch {
    await rm(path, { recursive: true, force: true });
  }
}
