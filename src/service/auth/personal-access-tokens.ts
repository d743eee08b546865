import { createHash, randomBytes } from 'node:crypto';
import type { Database, Tx } from '../database/database.js';
import type { PersonalAccessTokenRow } from '../database/schema.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';

const TOKEN_PREFIX = 'regen_pat_';
const TOKEN_PATTERN = /^regen_pat_[A-Za-z0-9_-]{43}$/;
export const LIFETIME_MS = 365 * 24 * 60 * 60 * 1000;
/** The last use is written at most this often. */
const USE_INTERVAL_MS = 60_000;

export function createPersonalAccessToken(): { token: string; prefix: string; hash: string } {
  const random = randomBytes(32).toString('base64url');
  const token = TOKEN_PREFIX + random;
  return { token, prefix: random.slice(0, 4), hash: hashToken(token) };
}

export function maskToken({ prefix }: Pick<PersonalAccessTokenRow, 'prefix'>): string {
  return `${TOKEN_PREFIX}${prefix}****`;
}

export function isPersonalAccessToken(text: string): boolean {
  return text.startsWith(TOKEN_PREFIX);
}

/** @returns undefined if the token is unknown, revoked or expired */
export async function findPersonalAccessToken(
  database: Database,
  token: string,
  now: number,
): Promise<PersonalAccessTokenRow | undefined> {
  if (!TOKEN_PATTERN.test(token)) return undefined;
  const row = await database
    .selectFrom('personal_access_tokens')
    .selectAll()
    .where('hash', '=', hashToken(token))
    .executeTakeFirst();
  return row && Date.parse(row.expires_at) <= now ? undefined : row;
}

/** The ids of the nodes that a token is limited to; undefined if it is not. */
export function listTokenNodes({ nodes }: Pick<PersonalAccessTokenRow, 'nodes'>): string[] | undefined {
  return nodes === null ? undefined : (JSON.parse(nodes) as string[]);
}

/** Whether a token that is limited to these nodes, or to none, covers a node; ids are compared without case. */
export function coversNode(nodes: readonly string[] | undefined, nodeId: string | undefined): boolean {
  if (nodes === undefined) return true;
  return nodeId !== undefined && nodes.some((node) => node.toLowerCase() === nodeId.toLowerCase());
}

/** @throws Refused node_not_allowed if a token is limited to other nodes */
export function refuseOtherNodes(nodes: readonly string[] | undefined, nodeId: string | undefined): void {
  if (coversNode(nodes, nodeId)) return;
  const known = nodes?.slice(0, 3).join(', ');
  const more = (nodes?.length ?? 0) > 3 ? ' and others' : '';
  throw new Refused(
    'node_not_allowed',
    `The personal access token may only be used for ${known}${more}; create one for this.`,
  );
}

export function isUseOutdated({ last_used_at }: PersonalAccessTokenRow, now: number): boolean {
  return last_used_at === null || now - Date.parse(last_used_at) >= USE_INTERVAL_MS;
}

export async function recordUse(tx: Tx, { id }: PersonalAccessTokenRow, now: Context['now']): Promise<void> {
  await tx
    .updateTable('personal_access_tokens')
    .set({ last_used_at: new Date(now()).toISOString() })
    .where('id', '=', id)
    .execute();
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
