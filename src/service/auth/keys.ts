import { randomBytes, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair } from 'jose';
import type { Database, Keys, SigningKey, Tx } from '../context.js';
import { record } from '../registry/events.js';
import { longestTokenSeconds } from './tokens.js';
import { ownerId } from './users.js';

type KeyUse = 'token' | 'url';

/**
 * Reads the service's own keys, making the missing ones.
 * @param owner the embedded owner's bearer token, where the data folder holds one
 */
export async function loadKeys(database: Database, now: () => number, owner?: string): Promise<Keys> {
  return database.transaction().execute(async (tx) => {
    const [url = await add(tx, 'url', randomBytes(32).toString('base64url'), now())] = await stored(
      tx,
      'url',
    );
    if (!(await stored(tx, 'token')).some(({ retired_at }) => retired_at === null))
      await add(tx, 'token', await newSigningKey(), now());
    return {
      url: Buffer.from(url.secret, 'base64url'),
      token: await signingKeys(tx),
      ...(owner ? { owner } : {}),
    };
  });
}

// Decided: a key that another one took the place of is honoured until the longest token it signed has ended.
/** Makes a new signing key. @returns all that there are */
export async function rotateSigningKey(database: Database, now: () => number): Promise<SigningKey[]> {
  return database.transaction().execute(async (tx) => {
    const retired_at = new Date(now() + longestTokenSeconds * 1000).toISOString();
    await tx
      .updateTable('keys')
      .set({ retired_at })
      .where('use', '=', 'token')
      .where('retired_at', 'is', null)
      .execute();
    const { id } = await add(tx, 'token', await newSigningKey(), now());
    await record(tx, now, { actor: ownerId, kind: 'key', id, action: 'key.rotate' });
    return signingKeys(tx);
  });
}

async function signingKeys(tx: Tx): Promise<SigningKey[]> {
  return (await stored(tx, 'token')).map(({ id, secret, retired_at }) => ({
    kid: id,
    jwk: JSON.parse(secret),
    ...(retired_at === null ? {} : { retiredAt: Date.parse(retired_at) }),
  }));
}

function stored(tx: Tx, use: KeyUse) {
  return tx
    .selectFrom('keys')
    .select(['id', 'secret', 'retired_at'])
    .where('use', '=', use)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
}

async function newSigningKey(): Promise<string> {
  const { privateKey } = await generateKeyPair('Ed25519', { extractable: true });
  return JSON.stringify(await exportJWK(privateKey));
}

async function add(tx: Tx, use: KeyUse, secret: string, now: number) {
  const row = { id: randomUUID(), use, secret, created_at: new Date(now).toISOString() };
  await tx.insertInto('keys').values(row).execute();
  return row;
}
