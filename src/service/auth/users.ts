import { randomUUID } from 'node:crypto';
import type { Context, Database, Tx } from '../context.js';
import { record } from '../registry/events.js';
import type { Identity } from './identity.js';

type Person = Pick<Identity, 'issuer' | 'subject' | 'verifiedEmail' | 'name'>;

/** The embedded owner, as an ordinary user. */
export const ownerId = 'owner';
const owner: Person = { issuer: 'regen', subject: ownerId, name: 'Owner' };

/** The id of the user with this identity, who is made at first sight. */
export async function userOf(context: Context, identity: Person): Promise<string> {
  const person = { ...identity, verifiedEmail: foldEmail(identity.verifiedEmail) };
  const known = await find(context.database, person);
  if (known && !differs(known, person)) return known.id;
  return context.database.transaction().execute((tx) => writeUser(tx, person, context.now()));
}

export async function ownerUser(context: Context): Promise<string> {
  return userOf(context, owner);
}

// Decided: e-mail addresses are compared in lower case.
export function foldEmail<Text extends string | undefined>(email: Text): Text {
  return email?.toLowerCase() as Text;
}

interface Known {
  readonly id: string;
  readonly email: string | null;
  readonly name: string | null;
}

function find(database: Database, { issuer, subject }: Person): Promise<Known | undefined> {
  return database
    .selectFrom('users')
    .select(['id', 'email', 'name'])
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
}

/** What a token does not say is kept. */
function differs(known: Known, { verifiedEmail, name }: Person): boolean {
  return (
    (verifiedEmail !== undefined && verifiedEmail !== known.email) ||
    (name !== undefined && name !== known.name)
  );
}

async function writeUser(tx: Tx, person: Person, now: number): Promise<string> {
  // Read again: a request at the same time may have made the user meanwhile.
  const known = await find(tx, person);
  const id = known?.id ?? (await insertUser(tx, person, now));
  const email = person.verifiedEmail ?? known?.email ?? null;
  const name = person.name ?? known?.name ?? null;
  await tx.updateTable('users').set({ email, name }).where('id', '=', id).execute();
  if (person.verifiedEmail) await takeUpInvitation(tx, id, person.verifiedEmail, now);
  return id;
}

async function insertUser(tx: Tx, { issuer, subject }: Person, now: number): Promise<string> {
  const id = issuer === owner.issuer && subject === owner.subject ? ownerId : randomUUID();
  const created_at = new Date(now).toISOString();
  await tx.insertInto('users').values({ id, issuer, subject, email: null, name: null, created_at }).execute();
  return id;
}

/** Hands the memberships given to an address over to the user who proved to own it. */
async function takeUpInvitation(tx: Tx, userId: string, email: string, now: number): Promise<void> {
  const invitation = await tx
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .where('issuer', 'is', null)
    .executeTakeFirst();
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
    // Who is a member already keeps the higher role.
    .onConflict((conflict) =>
      conflict
        .columns(['publisher_id', 'user_id'])
        .doUpdateSet({ role: 'owner' })
        .where('excluded.role', '=', 'owner'),
    )
    .execute();
  const taken = tx.deleteFrom('members').where('user_id', '=', invitation.id).returning('publisher_id');
  for (const { publisher_id } of await taken.execute()) {
    const event = { actor: userId, kind: 'member', id: `${publisher_id}/${userId}` } as const;
    await record(tx, () => now, { ...event, action: 'member.join' });
  }
  await tx.deleteFrom('users').where('id', '=', invitation.id).execute();
}
