import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { hasCode } from '../../contract/has-code.js';
import { DataUnusable } from '../database/data-unusable.js';
import { type Database, insertRow, updateRows } from '../database/database.js';
import type { Storage } from './storage.js';

/** An object whose content the database knows too. It moves with the files; the name of a bucket or folder does not. */
export const STORE_ID = 'store-id';
const MAX_ID_BYTES = 100;

/**
 * Makes sure that this is the storage with the files of a database; the first service decides. A service alone with its
 * database needs it only once the files are not beside that.
 * @throws DataUnusable
 */
export async function bindStorage(
  database: Database,
  storage: Storage,
  {
    setting,
    folder,
    alone = false,
  }: { readonly setting: string | undefined; readonly folder: string; readonly alone?: boolean },
): Promise<void> {
  const place = setting ?? `${folder} on ${hostname()}`;
  await database.transaction().execute(async (tx) => {
    const bound = await tx.selectFrom('storages').select(['id', 'place']).executeTakeFirst();
    if (bound && bound.id === (await readId(storage))) return;
    if (bound)
      throw new DataUnusable(
        `The files of this database are in ${bound.place}, and ${place} is another place; give all services the same storage, or, if you moved the files, move their file ${STORE_ID} too.`,
      );
    if (alone && setting === undefined) return;
    // Before the object is read, so that another service that starts at the same time waits here, and then finds both.
    const id = randomUUID();
    await insertRow(tx, 'storages', { number: 1, id, place });
    const found = await readId(storage);
    if (found) await updateRows(tx, 'storages', { number: 1 }, { id: found });
    else await storage.write(STORE_ID, Buffer.from(id), MAX_ID_BYTES);
  });
}

async function readId(storage: Storage): Promise<string | undefined> {
  try {
    return (await storage.readWhole(STORE_ID)).toString();
  } catch (error) {
    if (hasCode(error, 'object_missing')) return undefined;
    throw error;
  }
}
