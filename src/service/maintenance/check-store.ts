import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { hasCode } from '../../contract/has-code.js';
import type { Database } from '../database/database.js';
import { STORE_ID } from '../storage/bind-storage.js';
import type { Storage } from '../storage/storage.js';
import { type ExpectedObject, listExpectedObjects } from './expected-objects.js';

export interface StoreReport {
  /** Objects that are whole, and their bytes. */
  readonly objects: number;
  readonly bytes: number;
  /** Objects that are missing, damaged or unknown. */
  readonly problems: readonly ObjectProblem[];
}

export interface ObjectProblem {
  /** Its name in the storage. */
  readonly object: string;
  readonly message: string;
}

/**
 * Compares every object with its row: it is there, has the size and the digest of the row, and none is without
 * a row. Beside a service that adds and removes objects and rows, only what is wrong twice is wrong.
 */
export async function checkStore(database: Database, storage: Storage): Promise<StoreReport> {
  const report = await compareStore(database, storage, () => true);
  if (report.problems.length === 0) return report;
  const suspects = new Set(report.problems.map(({ object }) => object));
  const { problems } = await compareStore(database, storage, (object) => suspects.has(object));
  return { ...report, problems };
}

async function compareStore(
  database: Database,
  storage: Storage,
  isCompared: (object: string) => boolean,
): Promise<StoreReport> {
  const unknown = new Set<string>();
  // Before the rows, because an object is written before its row.
  for await (const name of storage.list()) if (isCompared(name)) unknown.add(name);
  unknown.delete(storage.toName(STORE_ID));
  const problems: ObjectProblem[] = [];
  let [objects, bytes] = [0, 0];
  for await (const expected of listExpectedObjects(database)) {
    const object = storage.toName(expected.key);
    if (!isCompared(object)) continue;
    unknown.delete(object);
    const found = await measureObject(storage, expected);
    if (typeof found === 'number') {
      objects++;
      bytes += found;
    } else if (found !== undefined) {
      problems.push({ object, message: found });
    }
  }
  for (const object of unknown) problems.push({ object, message: 'belongs to no row of the database' });
  return { objects, bytes, problems };
}

/** @returns the bytes of a whole object, what is wrong with it, or undefined if it may be absent and is */
async function measureObject(
  storage: Storage,
  { key, size, sha256, optional }: ExpectedObject,
): Promise<number | string | undefined> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    await pipeline(await storage.read(key), async (chunks) => {
      for await (const chunk of chunks as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        hash.update(chunk);
      }
    });
  } catch (error) {
    if (hasCode(error, 'object_missing')) return optional ? undefined : 'is missing';
    return `cannot be read: ${(error as Error).message}`;
  }
  if (size !== undefined && bytes !== size) return `has ${bytes} bytes instead of ${size}`;
  if (sha256 !== undefined && hash.digest('hex') !== sha256) return 'differs from the digest in the database';
  return bytes;
}
