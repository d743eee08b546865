import { randomUUID } from 'node:crypto';
import { foldEmail } from '../auth/users.js';
import { type Database, deleteRows, findRow, insertRow, type Tx, updateRows } from '../database/database.js';
import type { Handlers, OperationCall, Write } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import { requireCountQuota } from '../operation/quota.js';
import { recordAction } from '../operation/record-action.js';
import { Refused } from '../operation/refused.js';
import { revokeTokensOf } from './tokens.js';
import { findMembers, type MemberView } from './views.js';

type Role = 'owner' | 'member';

const addMember: Write<'publisher.member.add'> = async (call, tx) => {
  const { params, body, context } = call;
  const userId = await findOrInviteUser(tx, body.email, context.now);
  const role = await findRole(tx, params.publisherId, userId);
  if (role === undefined) {
    await requireCountQuota(tx, context, { publisherId: params.publisherId, quota: 'members' });
    const created_at = new Date(context.now()).toISOString();
    const row = { publisher_id: params.publisherId, user_id: userId, role: body.role, created_at };
    await insertRow(tx, 'members', row);
    await recordMember(call, tx, userId, 'member.add', body.role);
  } else if (role !== body.role) {
    throw new Refused(
      'invalid_request',
      `${body.email} is already a member with the role ${role}; change the role with PUT.`,
    );
  }
  return getMemberView(tx, params.publisherId, userId);
};

const setMember: Write<'publisher.member.set'> = async (call, tx) => {
  const { publisherId, userId } = call.params;
  const { role } = call.body;
  const before = await requireMember(tx, publisherId, userId);
  if (before !== role) {
    if (before === 'owner') await refuseLastOwner(tx, publisherId, userId);
    await updateRows(tx, 'members', { publisher_id: publisherId, user_id: userId }, { role });
    await recordMember(call, tx, userId, 'member.set', role);
  }
  return getMemberView(tx, publisherId, userId);
};

const removeMember: Write<'publisher.member.remove'> = async (call, tx) => {
  const { publisherId, userId } = call.params;
  const role = await requireMember(tx, publisherId, userId);
  if (role === 'owner') await refuseLastOwner(tx, publisherId, userId);
  await revokeTokensOf(call, tx, userId);
  await deleteRows(tx, 'members', { publisher_id: publisherId, user_id: userId });
  await recordMember(call, tx, userId, 'member.remove');
  await forgetInvitations(tx, [userId]);
};

/** Removes those of some users who never signed in and are members of nothing. */
export async function forgetInvitations(tx: Tx, userIds: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('users')
    .where('id', 'in', userIds)
    .where('issuer', 'is', null)
    .where('id', 'not in', (of) => of.selectFrom('members').select('user_id').where('user_id', 'in', userIds))
    .execute();
}

/** Finds the oldest user with this address, or creates an invitation, which is accepted by signing in. */
async function findOrInviteUser(tx: Tx, address: string, now: Context['now']): Promise<string> {
  const email = foldEmail(address);
  const existing = await tx
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .orderBy('created_at')
    .orderBy('id')
    .executeTakeFirst();
  if (existing) return existing.id;
  const id = randomUUID();
  const created_at = new Date(now()).toISOString();
  await insertRow(tx, 'users', { id, issuer: null, subject: null, email, name: null, created_at });
  return id;
}

async function findRole(database: Database, publisherId: string, userId: string): Promise<Role | undefined> {
  const row = await findRow(database, 'members', { publisher_id: publisherId, user_id: userId });
  return row?.role;
}

async function requireMember(tx: Tx, publisherId: string, userId: string): Promise<Role> {
  const role = await findRole(tx, publisherId, userId);
  if (!role) throw new Refused('not_found', `The publisher ${publisherId} has no member ${userId}.`);
  return role;
}

// Decided: the last owner can neither leave nor become a member; an unaccepted invitation does not count as an owner.
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
    `The last owner of the publisher ${publisherId} who has signed in must stay; add another owner first.`,
  );
}

async function listMembers(database: Database, publisherId: string): Promise<MemberView[]> {
  return (await findMembers(database, [publisherId])).get(publisherId) ?? [];
}

async function getMemberView(tx: Tx, publisherId: string, userId: string): Promise<MemberView> {
  return (await listMembers(tx, publisherId)).find(({ id }) => id === userId) as MemberView;
}

type MemberCall = Pick<OperationCall<'publisher.member.remove'>, 'caller' | 'context' | 'actions'> & {
  readonly params: { readonly publisherId: string };
};

async function recordMember(
  call: MemberCall,
  tx: Tx,
  userId: string,
  action: string,
  role?: Role,
): Promise<void> {
  const { publisherId } = call.params;
  const id = `${publisherId}/${userId}`;
  await recordAction(call, tx, { kind: 'member', id, publisherId, action, reason: role });
}

export const memberHandlers = {
  'publisher.member.add': { write: addMember },
  'publisher.member.list': { read: ({ params }, database) => listMembers(database, params.publisherId) },
  'publisher.member.set': { write: setMember },
  'publisher.member.remove': { write: removeMember },
} satisfies Partial<Handlers>;
