import { sql } from 'kysely';
import { countRows, type Database, findRow } from '../database/database.js';
import type { Handlers, OperationAnswer, OperationCall, Read } from '../operation/call.js';
import { countPages, requireReachablePage } from '../operation/paging.js';

const getCurrentUser: Read<'user.me'> = async ({ caller }, database) => {
  const id = caller.userId as string;
  const user = await findRow(database, 'users', { id });
  return {
    id,
    name: user?.name ?? undefined,
    email: user?.email ?? undefined,
    admin: caller.admin,
    publishers: await listMemberships(caller, database),
    credential: {
      kind: caller.kind as OperationAnswer<'user.me'>['credential']['kind'],
      expires_at: caller.expiresAt,
      nodes: caller.nodes && [...caller.nodes],
      operations: caller.operations && [...caller.operations],
    },
  };
};

async function listMemberships(
  { kind, userId, publisherId }: OperationCall<'user.me'>['caller'],
  database: Database,
): Promise<OperationAnswer<'user.me'>['publishers']> {
  if (publisherId !== undefined) return [{ id: publisherId, role: 'member' }];
  if (kind === 'api_key') return [];
  return database
    .selectFrom('members')
    .select(['publisher_id as id', 'role'])
    .where('user_id', '=', userId as string)
    .orderBy('publisher_id')
    .execute();
}

const listUsers: Read<'admin.user.list'> = async ({ query }, database) => {
  const { search, page, limit } = query;
  const offset = requireReachablePage({ page, limit });
  const contains = (column: 'email' | 'name') =>
    sql<boolean>`lower(coalesce(${sql.ref(column)}, '')) like ${toPattern(search ?? '')} escape '!'`;
  const found = database
    .selectFrom('users')
    .$if(search !== undefined, (all) =>
      all.where(sql<boolean>`(${contains('email')} or ${contains('name')})`),
    );
  const rows = await found
    .select(['id', 'email', 'name', 'credits_per_month', 'created_at', 'seen_at'])
    .orderBy('email')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
  const total = await countRows(found);
  const users = rows.map(({ email, name, credits_per_month, seen_at, ...user }) => ({
    ...user,
    email: email ?? undefined,
    name: name ?? undefined,
    credits_per_month: credits_per_month ?? undefined,
    seen_at: seen_at ?? undefined,
  }));
  return { users, total, page, limit, totalPages: countPages(total, limit) };
};

/** A pattern of LIKE for texts that contain this one, in any letter case. */
function toPattern(text: string): string {
  return `%${text.toLowerCase().replace(/[%_!]/g, '!$&')}%`;
}

export const userHandlers = {
  'admin.user.list': { read: listUsers },
  'user.me': { read: getCurrentUser },
} satisfies Partial<Handlers>;
