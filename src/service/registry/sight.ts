import type { Database } from '../context.js';
import type { Caller } from '../http/authenticate.js';

/** What a caller sees beyond what everybody sees. */
export interface Sight {
  /** Sees everything. */
  readonly admin: boolean;
  /** Publishers of which the caller sees what its members see. */
  readonly publishers: ReadonlySet<string>;
}

export async function sightOf(database: Database, caller: Caller): Promise<Sight> {
  if (caller.publisherId !== undefined) return { admin: false, publishers: new Set([caller.publisherId]) };
  if (caller.userId === undefined) return { admin: false, publishers: new Set() };
  const memberships = await database
    .selectFrom('members')
    .select('publisher_id')
    .where('user_id', '=', caller.userId)
    .execute();
  return { admin: caller.admin, publishers: new Set(memberships.map((row) => row.publisher_id)) };
}

/** Whether the caller sees this publisher as its members do. */
export function seesInside(sight: Sight, publisherId: string): boolean {
  return sight.admin || sight.publishers.has(publisherId);
}
