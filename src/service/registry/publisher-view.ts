import type { z } from 'zod';
import { removeNulls } from '../../contract/json.js';
import type { Publisher, PublisherMember } from '../../contract/publisher.js';
import type { Database } from '../database/database.js';
import type { PublisherRow } from '../database/schema.js';
import { isInsider, type Viewer } from './access.js';

export type PublisherView = z.output<typeof Publisher>;
export type MemberView = z.output<typeof PublisherMember>;

/** Publishers in the form of the contract, by id, with their members if the caller may see them. */
export async function viewPublishers(
  database: Database,
  viewer: Viewer,
  rows: readonly PublisherRow[],
): Promise<Map<string, PublisherView>> {
  const members = await findMembers(
    database,
    rows.map(({ id }) => id).filter((id) => isInsider(viewer, id)),
  );
  const views = rows.map(({ created_at: createdAt, plain_id: _, status_reason: __, ...fields }) => {
    const view = removeNulls({ ...fields, createdAt, members: members.get(fields.id) });
    return [fields.id, view as PublisherView] as const;
  });
  return new Map(views);
}

/** Finds the members of each publisher, ordered by user id. */
export async function findMembers(
  database: Database,
  publisherIds: readonly string[],
): Promise<Map<string, MemberView[]>> {
  if (publisherIds.length === 0) return new Map();
  const rows = await database
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['members.publisher_id', 'members.user_id', 'members.role', 'users.email', 'users.name'])
    .where('members.publisher_id', 'in', publisherIds)
    .orderBy('members.user_id')
    .execute();
  const views = new Map<string, MemberView[]>();
  for (const row of rows) {
    const list = views.get(row.publisher_id) ?? [];
    views.set(row.publisher_id, list);
    const { user_id: id, role, email, name } = row;
    list.push({ id, role, user: removeNulls({ id, email, name }) as MemberView['user'] });
  }
  return views;
}
