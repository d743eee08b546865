import { hasCode } from '../../contract/has-code.js';
import type { Configuration } from '../configuration/configuration.js';
import { getS3Options } from '../configuration/s3-settings.js';
import type { Environment } from '../configuration/secret-source.js';
import { DataUnusable } from '../database/data-unusable.js';
import { createDiskStorage } from './disk.js';
import type { Storage } from './storage.js';

export interface OpenStorageOptions {
  /** The folder of objects, unless the configuration names a place. */
  readonly objects: string;
  /** Files that were half written later may be another service's; absent: no other service writes there. */
  readonly before?: number | undefined;
  /** A folder for temporary files. */
  readonly scratch: string;
  /** Environment variables that may hold secrets. */
  readonly env: Environment;
}

/**
 * Opens the storage that a configuration names.
 * @throws DataUnusable if a bucket cannot be read
 */
export async function openStorage(
  configuration: Configuration,
  { objects, before, scratch, env }: OpenStorageOptions,
): Promise<Storage> {
  const s3 = getS3Options(configuration, env);
  if (!s3) return createDiskStorage(configuration.storage ?? objects, { before });
  const { createS3Storage } = await import('./s3.js');
  const storage = await createS3Storage({ ...s3, scratch });
  await requireStorage(storage);
  return storage;
}

/**
 * Makes sure that a storage can be read.
 * @throws DataUnusable
 */
export async function requireStorage(storage: Storage): Promise<void> {
  try {
    await storage.requireReady();
  } catch (error) {
    if (!hasCode(error, 'storage_away')) throw error;
    throw new DataUnusable(`${error.message} Correct the settings storage and s3, or the rights of the key.`);
  }
}
