import { randomUUID } from 'node:crypto';
import { foldEmail } from '../auth/users.js';
import type { Context, Database, Tx } from '../context.js';
import type { Answer, Call } from '../http/handler.js';
import { Refused } from '../refused.js';
import { record } from './events.js';
import { type MemberView, membersOf } from './publisher-view.js';

type Role = 'owner' | 'member';

export async function listMembers(
  { params }: Call<'publisher.member.list'>,
  database: Database,
): Promise<Answer<'publisher.member.list'>> {
  return (await membersOf(database, [params.publisherId])).get(params.publisherId) ?? [];
}

export async function addMember(call: Call<'publisher.member.add'>, tx: Tx): Promise<MemberView> {
  const { params, body, context } = call;
  const userId = await userWithEmail(tx, body.email, context.now);
  const role = await roleOf(tx, params.publisherId, userId);
  if (role === undefined) {
    const created_at = new Date(context.now()).toISOString();
    const row = { publisher_id: params.publisherId, user_id: userId, role: body.role, created_at };
    await tx.insertInto('members').values(row).execute();
    await recordMember(call, tx, userId, 'member.add', body.role);
  } else if (role !== body.role) {
    throw new Refused(
      'invalid_request',
      `${body.email} is a member already, as ${role}; change the role with PUT.`,
    );
  }
  return memberView(tx, params.publisherId, userId);
}

export async function setMember(call: Call<'publisher.member.set'>, tx: Tx): Promise<MemberView> {
  const { publisherId, userId } = call.params;
  const { role } = call.body;
  const before = await requireMember(tx, publisherId, userId);
  if (before !== role) {
    if (before === 'owner') await refuseLastOwner(tx, publisherId, userId);
    await member(tx, publisherId, userId).set({ role }).execute();
    await recordMember(call, tx, userId, 'member.set', role);
  }
  return memberView(tx, publisherId, userId);
}

export async function removeMember(call: Call<'publisher.member.remove'>, tx: Tx): Promise<undefined> {
  const { publisherId, userId } = call.params;
  const role = await requireMember(tx, publisherId, userId);
  if (role === 'owner') await refuseLastOwner(tx, publisherId, userId);
  await tx
    .deleteFrom('members')
    .where('publisher_id', '=', publisherId)
    .where('user_id', '=', userId)
    .execute();
  await recordMember(call, tx, userId, 'member.remove');
}

/** The oldest user with this address; an invitation, which its owner takes up on signing in, where there is none. */
async function userWithEmail(tx: Tx, address: string, now: Context['now']): Promise<string> {
  const email = foldEmail(address);
  const known = await tx
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .orderBy('created_at')
    .orderBy('id')
    .executeTakeFirst();
  if (known) return known.id;
  const id = randomUUID();
  const created_at = new Date(now()).toISOString();
  await tx
    .insertInto('users')
    .values({ id, issuer: null, subject: null, email, name: null, created_at })
    .execute();
  return id;
}

async function roleOf(database: Database, publisherId: string, userId: string): Promise<Role | undefined> {
  const row = await database
    .selectFrom('members')
    .select('role')
    .where('publisher_id', '=', publisherId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.role;
}

async function requireMember(tx: Tx, publisherId: string, userId: string): Promise<Role> {
  const role = await roleOf(tx, publisherId, userId);
  if (!role) throw new Refused('not_found', `The publisher ${publisherId} has no member ${userId}.`);
  return role;
}

// Decided: the last owner can neither leave nor become a member. An invitation nobody has taken up is no owner yet.
async function refuseLastOwner(tx: Tx, publisherId: string, userId: string): Promise<void> {
  const other = await tx
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select('members.user_id')
    .where('members.publisher_id', '=', publisherId)
    .where('members.role', '=', 'owner')
    .where('members.user_id', '<>', userId)
    .where('users.issuer', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  if (other) return;
  throw new Refused(
    'invalid_request',
    `This is the last owner of the publisher ${publisherId} who ever signed in; make somebody else an owner first.`,
  );
}

function member(tx: Tx, publisherId: string, userId: string) {
  return tx.updateTable('members').where('publisher_id', '=', publisherId).where('user_id', '=', userId);
}

async function memberView(tx: Tx, publisherId: string, userId: string): Promise<MemberView> {
  const members = (await membersOf(tx, [publisherId])).get(publisherId) ?? [];
  return members.find(({ id }) => id === userId) as MemberView;
}

type MemberCall = Pick<Call<'publisher.member.remove'>, 'caller' | 'context'> & {
  readonly params: { readonly publisherId: string };
};

async function recordMember(
  { caller, context, params }: MemberCall,
  tx: Tx,
  userId: string,
  action: string,
  role?: Role,
): Promise<void> {
  const event = {
    actor: caller.userId as string,
    kind: 'member',
    id: `${params.publisherId}/${userId}`,
  } as const;
  await record(tx, context.now, { ...event, action, ...(role ? { reason: role } : {}) });
}
