import { type Database, findRow } from '../database/database.js';
import type { Handlers, OperationAnswer, OperationCall, Read } from '../operation/call.js';

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

export const userHandlers = { 'user.me': { read: getCurrentUser } } satisfies Partial<Handlers>;
