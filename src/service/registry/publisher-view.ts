import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { Publisher, PublisherMember } from '../../contract/publisher.js';
import type { Database } from '../context.js';
import type { PublisherTable } from '../database/schema.js';
import { type Sight, seesInside } from './sight.js';

export type PublisherRow = Selectable<PublisherTable>;
type PublisherView = z.output<typeof Publisher>;
export type MemberView = z.output<typeof PublisherMember>;

/** The publishers as the contract spells them, by id; with their members where the caller may see them. */
export async function publisherViews(
  database: Database,
  sight: Sight,
  rows: readonly PublisherRow[],
): Promise<Map<string, PublisherView>> {
  const members = await membersOf(
    database,
    rows.map(({ id }) => id).filter((id) => seesInside(sight, id)),
  );
  return new Map(rows.map((row) => [row.id, publisherView(row, members.get(row.id))]));
}

function publisherView(row: PublisherRow, members: MemberView[] | undefined): PublisherView {
  return {
    createdAt: row.created_at,
    description: row.description ?? undefined,
    id: row.id,
    logo: row.logo ?? undefined,
    members,
    name: row.name,
    source_code_repo: row.source_code_repo ?? undefined,
    status: row.status as PublisherView['status'],
    support: row.support ?? undefined,
    website: row.website ?? undefined,
  };
}

/** The members of each publisher in the order of their ids. */
export async function membersOf(
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
    list.push({ id, role, user: { id, email: email ?? undefined, name: name ?? undefined } });
  }
  return views;
}
