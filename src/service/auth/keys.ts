import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { KEY_TYPE } from '../../contract/statement.js';
import { signEnvelope } from '../../wire/envelope.js';
import { recordEvent } from '../database/audit-log.js';
import { type Database, deleteRows, insertRow, type Tx, updateRows } from '../database/database.js';
import { sendNotice } from '../database/notices.js';
import { openSqlite } from '../database/sqlite.js';
import { OWNER_ID } from '../operation/caller.js';
import type { Keys, SigningKey, StatementSigner } from '../operation/identity.js';
import { createOwnerToken, DATABASE, type DataFolder, openDataFolder } from '../storage/data-folder.js';
import { toPublicKey, toSigner } from './statements.js';
import { getSigningKey, MAX_TOKEN_SECONDS } from './tokens.js';

type KeyUse = 'token' | 'url' | 'owner' | 'statement';

/**
 * Loads the service's own keys and creates missing ones.
 * @param folder has the owner's bearer token
 * @param isShared whether several services use the database, which then have the token of the first of them
 */
export async function loadKeys(
  database: Database,
  now: () => number,
  folder?: Pick<DataFolder, 'ownerToken' | 'setOwnerToken'>,
  isShared = false,
): Promise<Keys> {
  const loaded = await database.transaction().execute(async (tx) => {
    const [url = await insertKey(tx, 'url', randomBytes(32).toString('base64url'), now())] =
      await listStoredKeys(tx, 'url');
    if (!(await listStoredKeys(tx, 'token')).some(({ retired_at }) => retired_at === null))
      await insertKey(tx, 'token', await generateSigningKey(), now());
    if (!(await listStoredKeys(tx, 'statement')).some(({ retired_at }) => retired_at === null))
      await insertStatementKey(tx, now());
    if (folder && isShared && (await listStoredKeys(tx, 'owner')).length === 0)
      await insertKey(tx, 'owner', folder.ownerToken, now());
    return { url: Buffer.from(url.secret, 'base64url') };
  });
  const keys: Keys = {
    ...loaded,
    token: [],
    statement: [],
    ...(folder && { owner: folder.ownerToken }),
    reload: async () => {
      keys.token = await listSigningKeys(database);
      keys.statement = await listStatementKeys(database);
      const [stored] = isShared ? await listStoredKeys(database, 'owner') : [];
      if (folder && stored) setOwner(stored.secret);
    },
    rotateOwner: async () => {
      const token = createOwnerToken();
      if (isShared) await replaceOwnerToken(database, token, now());
      setOwner(token);
    },
  };
  const setOwner = (token: string) => {
    keys.owner = token;
    folder?.setOwnerToken(token);
  };
  await keys.reload();
  return keys;
}

async function replaceOwnerToken(database: Database, token: string, now: number): Promise<void> {
  await database.transaction().execute(async (tx) => {
    await deleteRows(tx, 'keys', { use: 'owner' });
    await insertKey(tx, 'owner', token, now);
    await sendNotice(tx, 'keys');
  });
}

// Decided: a replaced key is accepted until the longest token it signed has expired.
/** Creates a new signing key. @returns all signing keys */
export async function rotateSigningKey(database: Database, now: () => number): Promise<SigningKey[]> {
  return database.transaction().execute(async (tx) => {
    const retired_at = new Date(now() + MAX_TOKEN_SECONDS * 1000).toISOString();
    await updateRows(tx, 'keys', { use: 'token', retired_at: null }, { retired_at });
    const { id } = await insertKey(tx, 'token', await generateSigningKey(), now());
    await rotateStatementKey(tx, now());
    await recordEvent(tx, now, { actor: OWNER_ID, kind: 'key', id, action: 'key.rotate' });
    await sendNotice(tx, 'keys');
    return listSigningKeys(tx);
  });
}

/** Lists the signing keys, which another service may have added to. */
export async function listSigningKeys(database: Database): Promise<SigningKey[]> {
  return (await listStoredKeys(database, 'token')).map(({ id, secret, retired_at }) => ({
    kid: id,
    jwk: JSON.parse(secret),
    ...(retired_at === null ? {} : { retiredAt: Date.parse(retired_at) }),
  }));
}

async function listStatementKeys(database: Database): Promise<StatementSigner[]> {
  const rows = await listStoredKeys(database, 'statement');
  return rows.map(({ id, secret, created_at, retired_at }) => ({
    ...(JSON.parse(secret) as StoredStatementKey),
    kid: id,
    createdAt: created_at,
    ...(retired_at !== null && { retiredAt: retired_at }),
  }));
}

type StoredStatementKey = Pick<StatementSigner, 'jwk' | 'endorsement'>;

// Decided: the old key signs the new one, so that clients that know the old one accept it. Then only its public part
// remains, with which earlier statements are verified for ever.
async function rotateStatementKey(tx: Tx, now: number): Promise<void> {
  const [old] = await listStatementKeys(tx as Database);
  await insertStatementKey(tx, now, old);
  if (!old) return;
  const { d: _, ...open } = old.jwk;
  const secret = JSON.stringify({ jwk: open, endorsement: old.endorsement });
  await updateRows(tx, 'keys', { id: old.kid }, { secret, retired_at: new Date(now).toISOString() });
}

async function insertStatementKey(tx: Tx, now: number, before?: StatementSigner): Promise<void> {
  const jwk = JSON.parse(await generateSigningKey());
  const key = toPublicKey(jwk);
  const endorsement = before?.jwk.d && signEnvelope(KEY_TYPE, key, toSigner(before));
  const secret = JSON.stringify({ jwk, ...(endorsement && { endorsement }) });
  await insertRow(tx, 'keys', {
    ...{ id: key.kid, use: 'statement', secret },
    created_at: new Date(now).toISOString(),
  });
}

function listStoredKeys(database: Database, use: KeyUse) {
  return database
    .selectFrom('keys')
    .select(['id', 'secret', 'created_at', 'retired_at'])
    .where('use', '=', use)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
}

async function generateSigningKey(): Promise<string> {
  const { privateKey } = await generateKeyPair('Ed25519', { extractable: true });
  return JSON.stringify(await exportJWK(privateKey));
}

async function insertKey(tx: Tx, use: KeyUse, secret: string, now: number) {
  const row = { id: randomUUID(), use, secret, created_at: new Date(now).toISOString() };
  await insertRow(tx, 'keys', row);
  return row;
}

/**
 * Creates a new signing key in a data folder that no service is using.
 * @param now milliseconds since the epoch
 * @returns its id
 * @throws FolderInUse, OwnerTokenInvalid
 */
export async function rotateKeyIn(data: string, now: () => number): Promise<string> {
  using folder = openDataFolder(data);
  await using database = await openSqlite({ file: join(folder.path, DATABASE), durable: true });
  return getSigningKey(await rotateSigningKey(database, now)).kid;
}
