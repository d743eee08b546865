import { randomUUID } from 'node:crypto';
import { recordEvent } from '../database/audit-log.js';
import {
  type Database,
  deleteRows,
  findRow,
  insertRow,
  type Row,
  type Tx,
  updateRows,
} from '../database/database.js';
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
  if (person.verifiedEmail) await acceptInvitation(tx, id, person.verifiedEmail, now);
  return id;
}

async function insertUser(tx: Tx, { issuer, subject }: Person, now: number): Promise<string> {
  const id = issuer === OWNER.issuer && subject === OWNER.subject ? OWNER_ID : randomUUID();
  const created_at = new Date(now).toISOString();
  await insertRow(tx, 'users', { id, issuer, subject, email: null, name: null, created_at });
  return id;
}

/** Transfers the memberships granted to an address to the user who owns it. */
async function acceptInvitation(tx: Tx, userId: string, email: string, now: number): Promise<void> {
  const invitation = await findRow(tx, 'users', { email, issuer: null });
  if (!invitation) return;
  await tx
    .insertInto('members')
    .columns(['publisher_id', 'user_id', 'role', 'created_at'])
    .expression((of) =>
      of
        .selectFrom('members')
        .select((column) => ['publisher_id', column.val(userId).as('user_id'), 'role', 'created_at'])
        .where('user_id', '=', invitation.id),
    )
    // Existing members keep the higher role.
    .onConflict((conflict) =>
      conflict
        .columns(['publisher_id', 'user_id'])
        .doUpdateSet({ role: 'owner' })
        .where('excluded.role', '=', 'owner'),
    )
    .execute();
  const taken = tx.deleteFrom('members').where('user_id', '=', invitation.id).returning('publisher_id');
  for (const { publisher_id } of await taken.execute()) {
    const id = `${publisher_id}/${userId}`;
    const event = { actor: userId, kind: 'member', id, publisherId: publisher_id } as const;
    await recordEvent(tx, () => now, { ...event, action: 'member.join' });
  }
  await deleteRows(tx, 'users', { id: invitation.id });
}
