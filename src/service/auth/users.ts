import { randomUUID } from 'node:crypto';
import { type Database, findRow, insertRow, type Row, type Tx, updateRows } from '../database/database.js';
import { OWNER_ID } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import type { Identity } from '../operation/identity.js';

type Person = Pick<Identity, 'issuer' | 'subject' | 'verifiedEmail' | 'name'>;

const OWNER: Person = { issuer: 'regen', subject: OWNER_ID, name: 'Owner' };

/** @returns the id of the user with this identity, who is created if new */
export async function findOrCreateUser(context: Context, identity: Person): Promise<string> {
  const person = { ...identity, verifiedEmail: foldEmail(identity.verifiedEmail) };
  const existing = await findUser(context.database, person);
  if (existing && !hasChanged(existing, person)) return existing.id;
  return context.database.transaction().execute((tx) => writeUser(tx, person, context.now()));
}

export async function getOwnerUser(context: Context): Promise<string> {
  return findOrCreateUser(context, OWNER);
}

// Decided: e-mail addresses are compared in lower case.
export function foldEmail<Text extends string | undefined>(email: Text): Text {
  return email?.toLowerCase() as Text;
}

type KnownUser = Row<'users'>;

function findUser(database: Database, { issuer, subject }: Person): Promise<KnownUser | undefined> {
  return findRow(database, 'users', { issuer, subject });
}

/** Whether a token has a new address or name; what it does not contain stays unchanged. */
function hasChanged(existing: KnownUser, { verifiedEmail, name }: Person): boolean {
  return (
    (verifiedEmail !== undefined && verifiedEmail !== existing.email) ||
    (name !== undefined && name !== existing.name)
  );
}

async function writeUser(tx: Tx, person: Person, now: number): Promise<string> {
  // Read again: a concurrent request may have created the user.
  const existing = await findUser(tx, person);
  const id = existing?.id ?? (await insertUser(tx, person, now));
  const email = person.verifiedEmail ?? existing?.email ?? null;
  const name = person.name ?? existing?.name ?? null;
  await updateRows(tx, 'users', { id }, { email, name });
  return id;
}

async function insertUser(tx: Tx, { issuer, subject }: Person, now: number): Promise<string> {
  const id = issuer === OWNER.issuer && subject === OWNER.subject ? OWNER_ID : randomUUID();
  const created_at = new Date(now).toISOString();
  await insertRow(tx, 'users', { id, issuer, subject, email: null, name: null, created_at });
  return id;
}
