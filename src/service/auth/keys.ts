import { randomBytes, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair } from 'jose';
import type { Database, Keys, Tx } from '../context.js';

type KeyUse = 'token' | 'url';

/**
 * Reads the service's own keys, making the missing ones.
 * @param owner the embedded owner's bearer token, where the data folder holds one
 */
export async function loadKeys(database: Database, now: () => number, owner?: string): Promise<Keys> {
  return database.transaction().execute(async (tx) => {
    const rows = await tx
      .selectFrom('keys')
      .select(['id', 'use', 'secret'])
      .where('retired_at', 'is', null)
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .execute();
    const stored = (use: KeyUse) => rows.filter((row) => row.use === use);
    const token = stored('token');
    const url = stored('url')[0] ?? (await add(tx, 'url', randomBytes(32).toString('base64url'), now()));
    if (token.length === 0) token.push(await add(tx, 'token', await newSigningKey(), now()));
    return {
      url: Buffer.from(url.secret, 'base64url'),
      token: token.map(({ id, secret }) => ({ kid: id, jwk: JSON.parse(secret) })),
      ...(owner ? { owner } : {}),
    };
  });
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
