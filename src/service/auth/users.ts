import { randomUUID } from 'node:crypto';
import { REST_DAYS } from '../configuration/issuer-settings.js';
import { type Database, findRow, insertRow, type Row, type Tx, updateRows } from '../database/database.js';
import { OWNER_ID } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import type { Identity } from '../operation/identity.js';

type Person = Pick<Identity, 'issuer' | 'subject' | 'verifiedEmail' | 'name'>;

const OWNER: Person = { issuer: 'regen', subject: OWNER_ID, name: 'Owner' };

/** @returns the id of the user with this identity, who is created if new */
export async function findOrCreateUser(
  context: Pick<Context, 'database' | 'now'>,
  identity: Person,
): Promise<string> {
  const person = { ...identity, verifiedEmail: foldEmail(identity.verifiedEmail) };
  const existing = await findUser(context.database, person);
  if (existing && !hasChanged(existing, person) && wasSeen(existing, context.now(), DAY_MS))
    return existing.id;
  return context.database.transaction().execute((tx) => writeUser(tx, person, context.now()));
}

export async function getOwnerUser(context: Pick<Context, 'database' | 'now'>): Promise<string> {
  return findOrCreateUser(context, OWNER);
}

// Decided: email addresses are compared in lower case.
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

const DAY_MS = 24 * 60 * 60_000;

/** Whether a person used a token of the issuer within a time. */
function wasSeen({ seen_at }: KnownUser, now: number, withinMs: number): boolean {
  return seen_at !== null && now - Date.parse(seen_at) < withinMs;
}

/**
 * How many days a person has not signed in, if that is so long that their keys rest: the identity provider may not
 * know them any more.
 */
export async function findRestDays(
  { configuration, now }: Pick<Context, 'configuration' | 'now'>,
  database: Database,
  userId: string,
): Promise<number | undefined> {
  const user = await findRow(database, 'users', { id: userId });
  // The service issues the tokens of its own users.
  if (!user?.issuer || user.issuer === OWNER.issuer) return undefined;
  const settings = configuration.issuers.find(({ issuer }) => issuer === user.issuer);
  const { restDays } = settings ?? { restDays: REST_DAYS };
  return restDays === false || wasSeen(user, now(), restDays * DAY_MS) ? undefined : restDays;
}

async function writeUser(tx: Tx, person: Person, now: number): Promise<string> {
  // Read again: a concurrent request may have created the user.
  const existing = await findUser(tx, person);
  const id = existing?.id ?? (await insertUser(tx, person, now));
  const email = person.verifiedEmail ?? existing?.email ?? null;
  const name = person.name ?? existing?.name ?? null;
  await updateRows(tx, 'users', { id }, { email, name, seen_at: new Date(now).toISOString() });
  return id;
}

async function insertUser(tx: Tx, { issuer, subject }: Person, now: number): Promise<string> {
  const id = issuer === OWNER.issuer && subject === OWNER.subject ? OWNER_ID : randomUUID();
  const created_at = new Date(now).toISOString();
  await insertRow(tx, 'users', { id, issuer, subject, email: null, name: null, created_at });
  return id;
}
