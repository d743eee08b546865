import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from './context.js';

/** Creates a folder for temporary files, until `remove`; after a crash the next start removes it. */
export async function createScratchFolder({
  scratch,
}: Pick<Context, 'scratch'>): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = join(scratch, randomUUID());
  await mkdir(path, { recursive: true, mode: 0o700 });
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
