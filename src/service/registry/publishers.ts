import { checkValue } from '../../contract/schema/check.js';
import { PublisherId } from '../../contract/schema/identifiers.js';
import {
  type Database,
  deleteRows,
  findRow,
  findRows,
  insertRow,
  type Tx,
  updateRows,
} from '../database/database.js';
import type { PublisherRow } from '../database/schema.js';
import type { Handlers, Read, Write } from '../operation/call.js';
import { requireUserQuota } from '../operation/quota.js';
import { recordAction } from '../operation/record-action.js';
import { Refused } from '../operation/refused.js';
import { getVisiblePublisher, openAccess, requireSameIds } from './access.js';
import { refuseLargeFields } from './details.js';
import { refuseLikeness, toPlainId } from './names.js';
import { type PublisherView, viewPublishers } from './views.js';

type Texts = Pick<PublisherRow, (typeof TEXT_FIELDS)[number]>;
const TEXT_FIELDS = ['description', 'logo', 'source_code_repo', 'support', 'website'] as const;

const createPublisher: Write<'publisher.create'> = async (call, tx) => {
  const { body, caller, context } = call;
  const { id, name } = body;
  await refuseBannedOwner(tx, caller.userId as string);
  await refuseLikeness(tx, { kind: 'publisher', id, byAdmin: caller.admin });
  await requireUserQuota(tx, context, { userId: caller.userId as string, quota: 'publishers' });
  const created_at = new Date(context.now()).toISOString();
  const texts = Object.fromEntries(TEXT_FIELDS.map((field) => [field, body[field] ?? null])) as Texts;
  refuseLargeFields({ name, ...texts }, 'publisher');
  await insertRow(tx, 'publishers', {
    ...texts,
    id,
    plain_id: toPlainId(id),
    name,
    status: 'PublisherStatusActive',
    status_reason: null,
    created_at,
  });
  // Decided: the creator is the first owner.
  await insertRow(tx, 'members', {
    publisher_id: id,
    user_id: caller.userId as string,
    role: 'owner',
    created_at,
  });
  await recordAction(call, tx, { kind: 'publisher', id, publisherId: id, action: 'publisher.create' });
  return getPublisherView(call, tx, id);
};

// Decided: the owners of a banned publisher cannot start another one while it is banned.
async function refuseBannedOwner(tx: Tx, userId: string): Promise<void> {
  const banned = await tx
    .selectFrom('members')
    .innerJoin('publishers', 'publishers.id', 'members.publisher_id')
    .select('publishers.id')
    .where('members.user_id', '=', userId)
    .where('members.role', '=', 'owner')
    .where('publishers.status', '=', 'PublisherStatusBanned')
    .executeTakeFirst();
  if (!banned) return;
  throw new Refused(
    'banned',
    `You own the publisher ${banned.id}, which is banned; you can create another publisher once the ban is lifted.`,
  );
}

const listPublishers: Read<'publisher.list'> = async (call, database) => {
  const access = await openAccess(call, database);
  const { publishers } = access.viewer;
  if (publishers.size === 0) return [];
  const rows = await findRows(database, 'publishers', { id: [...publishers] }, ['id']);
  return [...(await viewPublishers(access, rows)).values()];
};

const updatePublisher: Write<'publisher.update'> = async (call, tx) => {
  const { body } = call;
  const id = call.params.publisherId;
  requireSameIds({ path: 'id', given: body.id, expected: id });
  const fields = (['name', ...TEXT_FIELDS] as const).filter((field) => body[field] !== undefined);
  if (fields.length > 0) {
    const changes = Object.fromEntries(fields.map((field) => [field, body[field]]));
    const before = await getVisiblePublisher(await openAccess(call, tx), id);
    refuseLargeFields({ ...before, ...changes }, 'publisher');
    await updateRows(tx, 'publishers', { id }, changes);
    const event = { kind: 'publisher', id, publisherId: id, action: 'publisher.update' } as const;
    await recordAction(call, tx, event);
  }
  return getPublisherView(call, tx, id);
};

const validatePublisher: Read<'publisher.validate'> = async ({ query }, database) => {
  const { username: id } = query;
  if (!checkValue(PublisherId, id).ok) return { isAvailable: false };
  const refusal = await refuseLikeness(database, { kind: 'publisher', id, byAdmin: false }).catch(
    (error: unknown) => error,
  );
  if (refusal !== undefined && !(refusal instanceof Refused)) throw refusal;
  return { isAvailable: refusal === undefined };
};

// Decided: a publisher that ever had a node is not deleted, because its nodes keep their ids.
const deletePublisher: Write<'publisher.delete'> = async (call, tx) => {
  const { publisherId: id } = call.params;
  const node = await findRow(tx, 'nodes', { publisher_id: id });
  if (node)
    throw new Refused(
      'invalid_transition',
      `The publisher ${id} has the node ${node.id}; a publisher with nodes, including deleted ones, cannot be deleted.`,
    );
  for (const table of ['trusts', 'personal_access_tokens', 'members', 'invitations', 'quota_usage'] as const)
    await deleteRows(tx, table, { publisher_id: id });
  await deleteRows(tx, 'publishers', { id });
  await recordAction(call, tx, { kind: 'publisher', id, publisherId: id, action: 'publisher.delete' });
};

/** @throws Refused not_found, banned */
export async function getPublisherView(
  call: Parameters<typeof openAccess>[0],
  database: Database,
  publisherId: string,
): Promise<PublisherView> {
  const access = await openAccess(call, database);
  const row = await getVisiblePublisher(access, publisherId);
  return (await viewPublishers(access, [row])).get(row.id) as PublisherView;
}

export const publisherHandlers = {
  'publisher.create': { write: createPublisher },
  'publisher.get': {
    read: (call, database) => getPublisherView(call, database, call.params.publisherId),
  },
  'publisher.list': { read: listPublishers },
  'publisher.validate': { read: validatePublisher },
  'publisher.delete': { write: deletePublisher },
  'publisher.update': { write: updatePublisher },
} satisfies Partial<Handlers>;
