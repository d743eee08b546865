import { randomUUID } from 'node:crypto';
import { removeNulls } from '../../contract/json.js';
import { type Database, deleteRows, findRow, insertRow, type Row, type Tx } from '../database/database.js';
import type { Handlers, OperationCall, Read, Write } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import { requireCountQuota, requireUserQuota } from '../operation/quota.js';
import { recordAction } from '../operation/record-action.js';
import { Refused } from '../operation/refused.js';
import type { MemberView } from './views.js';

type InvitationRow = Row<'invitations'>;
type InvitationView = MemberView & { readonly pending: true; readonly expires_at: string };

/** What members and admins do to the members of a publisher. */
export type MemberCall = Pick<
  OperationCall<'publisher.member.remove'>,
  'params' | 'caller' | 'context' | 'actions'
>;
type InviteCall = Pick<OperationCall<'publisher.member.add'>, 'params' | 'caller' | 'context' | 'actions'>;

/** Who is invited: an address that may have no account, or a member who is asked to own the publisher. */
type Invitee = { readonly email: string } | { readonly user_id: string };

// Decided: an invitation ends after 30 days.
const LIFETIME_MS = 30 * 24 * 60 * 60_000;

/**
 * Invites a person. Nothing here depends on whether an address has an account.
 * @throws Refused quota_exceeded; invalid_request if there is an invitation as something else
 */
export async function invitePerson(
  call: InviteCall,
  tx: Tx,
  invitee: Invitee,
  role: InvitationRow['role'],
): Promise<InvitationView> {
  const { caller, context } = call;
  const { publisherId } = call.params;
  const now = context.now();
  await forgetEnded(tx, publisherId, now);
  const before = await findRow(tx, 'invitations', { publisher_id: publisherId, ...invitee });
  if (before && before.role !== role) {
    throw new Refused(
      'invalid_request',
      `There already is an invitation as ${before.role}; remove ${before.id} first.`,
    );
  }
  if (!before) {
    await requireCountQuota(tx, context, { publisherId, quota: 'members' });
    await requireUserQuota(tx, context, { userId: caller.userId as string, quota: 'invitationsPerDay' });
    const id = randomUUID();
    await insertRow(tx, 'invitations', {
      ...{ publisher_id: publisherId, id, email: null, user_id: null, ...invitee, role },
      invited_by: caller.userId as string,
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + LIFETIME_MS).toISOString(),
    });
    const event = {
      kind: 'member',
      id: `${publisherId}/${id}`,
      publisherId,
      action: 'member.invite',
    } as const;
    await recordAction(call, tx, { ...event, reason: role });
  }
  const [view] = await listInvitations(tx, context, publisherId, invitee);
  return view as InvitationView;
}

async function forgetEnded(tx: Tx, publisherId: string, now: number): Promise<void> {
  await tx
    .deleteFrom('invitations')
    .where('publisher_id', '=', publisherId)
    .where('expires_at', '<=', new Date(now).toISOString())
    .execute();
}

/** The invitations of a publisher that have not ended, as its members see them: of one invitee, or of all. */
export async function listInvitations(
  database: Database,
  { now }: Pick<Context, 'now'>,
  publisherId: string,
  invitee?: Invitee,
): Promise<InvitationView[]> {
  let all = database
    .selectFrom('invitations')
    // An account is only shown of members, who are asked to own the publisher.
    .leftJoin('users', 'users.id', 'invitations.user_id')
    .select(['invitations.id', 'invitations.role', 'invitations.expires_at', 'invitations.email'])
    .select(['users.id as user_id', 'users.email as user_email', 'users.name'])
    .where('publisher_id', '=', publisherId)
    .where('expires_at', '>', new Date(now()).toISOString());
  for (const [column, value] of Object.entries(invitee ?? {}))
    all = all.where(`invitations.${column as 'email' | 'user_id'}`, '=', value as string);
  const rows = await all.orderBy('invitations.created_at').orderBy('invitations.id').execute();
  return rows.map(({ id, role, expires_at, email, user_id, user_email, name }) => {
    const user = removeNulls({ id: user_id, email: email ?? user_email, name });
    return { id, role, user, pending: true, expires_at } as InvitationView;
  });
}

/** Removes the invitation with an id. @returns whether there was one */
export async function withdrawInvitation(call: MemberCall, tx: Tx): Promise<boolean> {
  const { publisherId, userId: id } = call.params;
  const count = await deleteRows(tx, 'invitations', { publisher_id: publisherId, id });
  if (count === 0) return false;
  const event = { kind: 'member', id: `${publisherId}/${id}`, publisherId } as const;
  await recordAction(call, tx, { ...event, action: 'member.withdraw' });
  return true;
}

// Decided: an invitation ends with the ownership of who sent it.
/** Removes what a member who leaves or is no owner any more was offered and has offered. */
export async function forgetInvitations(tx: Tx, publisherId: string, userId: string): Promise<void> {
  const user = await findRow(tx, 'users', { id: userId });
  await tx
    .deleteFrom('invitations')
    .where('publisher_id', '=', publisherId)
    .where((where) =>
      where.or([
        where('user_id', '=', userId),
        where('invited_by', '=', userId),
        where('email', '=', user?.email ?? ''),
      ]),
    )
    .execute();
}

/** The invitations of a user, which are for the verified address or the account, and have not ended. */
async function listReceived(
  database: Database,
  { caller, context }: Pick<OperationCall<'publisher.accept'>, 'caller' | 'context'>,
) {
  const userId = caller.userId as string;
  const user = await findRow(database, 'users', { id: userId });
  return database
    .selectFrom('invitations')
    .innerJoin('publishers', 'publishers.id', 'invitations.publisher_id')
    .leftJoin('users as inviters', 'inviters.id', 'invitations.invited_by')
    .select(['publisher_id', 'publishers.name as publisher_name', 'publishers.status', 'role'])
    .select(['inviters.email as invited_by', 'invitations.created_at', 'expires_at', 'invitations.id'])
    .where((where) =>
      where.or([where('user_id', '=', userId), where('invitations.email', '=', user?.email ?? '')]),
    )
    .where('expires_at', '>', new Date(context.now()).toISOString())
    .orderBy('invitations.created_at', 'desc')
    .orderBy('invitations.id');
}

const listOwnInvitations: Read<'publisher.invitations'> = async (call, database) => {
  const received = await listReceived(database, call);
  const rows = await received.where('publishers.status', '=', 'PublisherStatusActive').limit(100).execute();
  return rows.map(({ id: _, status: __, ...row }) => {
    const { invited_by, ...invitation } = row;
    return { ...invitation, invited_by: invited_by ?? undefined };
  });
};

type AnswerCall = OperationCall<'publisher.accept'> | OperationCall<'publisher.decline'>;

/** Removes the invitations of the caller to a publisher, because the caller answers them. */
async function takeInvitations(call: AnswerCall, tx: Tx) {
  const { publisherId } = call.params;
  const received = await listReceived(tx, call);
  const rows = await received.where('publisher_id', '=', publisherId).execute();
  for (const { id } of rows) await deleteRows(tx, 'invitations', { publisher_id: publisherId, id });
  return rows;
}

const noInvitation = (publisherId: string) =>
  new Refused('not_found', `You have no invitation to the publisher ${publisherId}.`);

const acceptInvitation: Write<'publisher.accept'> = async (call, tx) => {
  const { publisherId } = call.params;
  const userId = call.caller.userId as string;
  const before = await findRow(tx, 'members', { publisher_id: publisherId, user_id: userId });
  const received = await takeInvitations(call, tx);
  // A repeated answer is the same.
  if (!before && received.length === 0) throw noInvitation(publisherId);
  if (received.some(({ status }) => status === 'PublisherStatusBanned'))
    throw new Refused('banned', `The publisher ${publisherId} is banned.`);
  // A member who accepts an invitation to another address keeps the higher role.
  const isOwner = [before, ...received].some((one) => one?.role === 'owner');
  const role = isOwner ? 'owner' : 'member';
  if (before?.role !== role) {
    const created_at = new Date(call.context.now()).toISOString();
    await tx
      .insertInto('members')
      .values({ publisher_id: publisherId, user_id: userId, role, created_at })
      .onConflict((conflict) => conflict.columns(['publisher_id', 'user_id']).doUpdateSet({ role }))
      .execute();
    const event = { kind: 'member', id: `${publisherId}/${userId}`, publisherId } as const;
    await recordAction(call, tx, { ...event, action: 'member.join', reason: role });
  }
  const user = await findRow(tx, 'users', { id: userId });
  const { id, email, name } = user as Row<'users'>;
  return { id, role, user: removeNulls({ id, email, name }) as MemberView['user'] };
};

const declineInvitation: Write<'publisher.decline'> = async (call, tx) => {
  const { publisherId } = call.params;
  const received = await takeInvitations(call, tx);
  if (received.length === 0) throw noInvitation(publisherId);
  // Not an event of the publisher, whose owners do not learn which account an address has.
  const id = call.caller.userId as string;
  await recordAction(call, tx, { kind: 'user', id, action: 'user.decline', reason: publisherId });
};

export const invitationHandlers = {
  'publisher.invitations': { read: listOwnInvitations },
  'publisher.accept': { write: acceptInvitation },
  'publisher.decline': { write: declineInvitation },
} satisfies Partial<Handlers>;
