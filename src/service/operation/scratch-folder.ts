import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from './context.js';

export interface ScratchFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** Creates a folder for temporary files, until `remove`; after a crash the next start removes it. */
export async function createScratchFolder(context: Pick<Context, 'scratch'>): Promise<ScratchFolder> {
  const folder = nameScratchFolder(context);
  await mkdir(folder.path, { recursive: true, mode: 0o700 });
  return folder;
}

/** The same, but what needs the folder creates it. */
export function nameScratchFolder({ scratch }: Pick<Context, 'scratch'>): ScratchFolder {
  const path = join(scratch, randomUUID());
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
