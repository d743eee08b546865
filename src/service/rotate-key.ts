import { join } from 'node:path';
import { rotateSigningKey } from './auth/keys.js';
import { signerOf } from './auth/tokens.js';
import { openSqlite } from './database/sqlite.js';
import { openFolder } from './folder.js';

/**
 * Makes a new signing key in a data folder that no service works on.
 * @returns its id
 * @throws FolderInUse, OwnerTokenInvalid
 */
export async function rotateKeyIn(data: string, now = Date.now): Promise<string> {
  const folder = openFolder(data);
  try {
    const database = await openSqlite({ file: join(folder.path, 'regen.db'), durable: true });
    try {
      return signerOf(await rotateSigningKey(database, now)).kid;
    } finally {
      await database.destroy();
    }
  } finally {
    folder.release();
  }
}
