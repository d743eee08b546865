import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { STORE_ID } from '../../src/service/storage/bind-storage.js';

/** The paths of all files below a folder, but for the one that binds a storage to its database. */
export function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== STORE_ID)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
