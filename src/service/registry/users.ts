import type { Database } from '../context.js';
import type { Answer, Call } from '../http/handler.js';

export async function me({ caller }: Call<'user.me'>, database: Database): Promise<Answer<'user.me'>> {
  const userId = caller.userId as string;
  const user = await database
    .selectFrom('users')
    .select(['name', 'email'])
    .where('id', '=', userId)
    .executeTakeFirst();
  return {
    id: userId,
    name: user?.name ?? undefined,
    email: user?.email ?? undefined,
    admin: caller.admin,
    publishers: await memberships(caller, database),
    credential: {
      kind: caller.kind as Answer<'user.me'>['credential']['kind'],
      expires_at: caller.expiresAt,
    },
  };
}

async function memberships(
  { userId, publisherId }: Call<'user.me'>['caller'],
  database: Database,
): Promise<Answer<'user.me'>['publishers']> {
  if (publisherId !== undefined) return [{ id: publisherId, role: 'member' }];
  return database
    .selectFrom('members')
    .select(['publisher_id as id', 'role'])
    .where('user_id', '=', userId as string)
    .orderBy('publisher_id')
    .execute();
}
