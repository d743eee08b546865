import { foldEmail } from '../auth/users.js';
import { type Database, deleteRows, findRow, insertRow, type Tx, updateRows } from '../database/database.js';
import type { Handlers, Write } from '../operation/call.js';
import { recordAction } from '../operation/record-action.js';
import { Refused } from '../operation/refused.js';
import {
  forgetInvitations,
  invitePerson,
  listInvitations,
  type MemberCall,
  withdrawInvitation,
} from './invitations.js';
import { revokeMemberTokens } from './tokens.js';
import { findMembers, type MemberView } from './views.js';

type Role = 'owner' | 'member';

const addMember: Write<'publisher.member.add'> = async (call, tx) => {
  const { role } = call.body;
  const email = foldEmail(call.body.email);
  const members = await listMembers(tx, call.params.publisherId);
  const member = members.find(({ user }) => user?.email === email);
  if (!member) return invitePerson(call, tx, { email }, role);
  if (member.role === role) return member;
  throw new Refused('member_exists', `${call.body.email} is already a member with the role ${member.role}.`);
};

// Decided: owning a publisher takes consent, so a member is asked before becoming an owner.
const setMember: Write<'publisher.member.set'> = async (call, tx) => {
  const { publisherId, userId } = call.params;
  const { role } = call.body;
  const before = await requireMember(tx, publisherId, userId);
  if (before === 'member' && role === 'owner') return invitePerson(call, tx, { user_id: userId }, role);
  if (before === 'owner' && role === 'member') {
    await refuseLastOwner(tx, publisherId, userId);
    await updateRows(tx, 'members', { publisher_id: publisherId, user_id: userId }, { role });
    await recordMember(call, tx, 'member.set', role);
  }
  if (role === 'member') await forgetInvitations(tx, publisherId, userId);
  return getMemberView(tx, publisherId, userId);
};

const removeMember: Write<'publisher.member.remove'> = async (call, tx) => {
  if (await withdrawInvitation(call, tx)) return;
  const { publisherId, userId } = call.params;
  const role = await requireMember(tx, publisherId, userId);
  if (role === 'owner') await refuseLastOwner(tx, publisherId, userId);
  await endMembership(call, tx);
};

// Decided: admins assign members without asking them, and may leave a publisher without owners.
const assignMember: Write<'admin.publisher.member.set'> = async (call, tx) => {
  const { publisherId, userId } = call.params;
  const { role } = call.body;
  await requirePublisher(tx, publisherId);
  if (!(await findRow(tx, 'users', { id: userId })))
    throw new Refused('not_found', `There is no user ${userId}.`);
  const key = { publisher_id: publisherId, user_id: userId };
  const before = await findRow(tx, 'members', key);
  if (before?.role !== role) {
    if (before) await updateRows(tx, 'members', key, { role });
    else
      await insertRow(tx, 'members', {
        ...key,
        role,
        created_at: new Date(call.context.now()).toISOString(),
      });
    await recordMember(call, tx, 'member.set', role);
  }
  await forgetInvitations(tx, publisherId, userId);
  return getMemberView(tx, publisherId, userId);
};

const dismissMember: Write<'admin.publisher.member.remove'> = async (call, tx) => {
  const { publisherId, userId } = call.params;
  await requirePublisher(tx, publisherId);
  if (await withdrawInvitation(call, tx)) return;
  await requireMember(tx, publisherId, userId);
  await endMembership(call, tx);
};

async function endMembership(call: MemberCall, tx: Tx): Promise<void> {
  const { publisherId, userId } = call.params;
  await revokeMemberTokens(call, tx);
  await deleteRows(tx, 'members', { publisher_id: publisherId, user_id: userId });
  await recordMember(call, tx, 'member.remove');
  await forgetInvitations(tx, publisherId, userId);
}

async function requirePublisher(tx: Tx, publisherId: string): Promise<void> {
  if (await findRow(tx, 'publishers', { id: publisherId })) return;
  throw new Refused('not_found', `There is no publisher ${publisherId}.`);
}

async function requireMember(tx: Tx, publisherId: string, userId: string): Promise<Role> {
  const row = await findRow(tx, 'members', { publisher_id: publisherId, user_id: userId });
  if (!row) throw new Refused('not_found', `The publisher ${publisherId} has no member ${userId}.`);
  return row.role;
}

// Decided: the last owner can neither leave nor become a member; who has yet to accept does not count as an owner.
async function refuseLastOwner(tx: Tx, publisherId: string, userId: string): Promise<void> {
  const other = await tx
    .selectFrom('members')
    .select('user_id')
    .where('publisher_id', '=', publisherId)
    .where('role', '=', 'owner')
    .where('user_id', '<>', userId)
    .limit(1)
    .executeTakeFirst();
  if (other) return;
  throw new Refused(
    'invalid_request',
    `The last owner of the publisher ${publisherId} must stay; add another owner first, or ask an admin to remove you.`,
  );
}

async function listMembers(database: Database, publisherId: string): Promise<MemberView[]> {
  return (await findMembers(database, [publisherId])).get(publisherId) ?? [];
}

async function getMemberView(tx: Tx, publisherId: string, userId: string): Promise<MemberView> {
  return (await listMembers(tx, publisherId)).find(({ id }) => id === userId) as MemberView;
}

async function recordMember(call: MemberCall, tx: Tx, action: string, role?: Role): Promise<void> {
  const { publisherId, userId } = call.params;
  const id = `${publisherId}/${userId}`;
  await recordAction(call, tx, { kind: 'member', id, publisherId, action, reason: role });
}

export const memberHandlers = {
  'publisher.member.add': { write: addMember },
  'publisher.member.list': {
    read: async ({ params: { publisherId }, context }, database) => [
      ...(await listMembers(database, publisherId)),
      ...(await listInvitations(database, context, publisherId)),
    ],
  },
  'publisher.member.set': { write: setMember },
  'publisher.member.remove': { write: removeMember },
  'admin.publisher.member.set': { write: assignMember },
  'admin.publisher.member.remove': { write: dismissMember },
} satisfies Partial<Handlers>;
