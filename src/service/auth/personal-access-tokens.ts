import { type Database, findRow } from '../database/database.js';
import type { PersonalAccessTokenRow } from '../database/schema.js';
import { Refused } from '../operation/refused.js';
import { createRandomToken, hashToken, isWellFormed, type RandomToken } from './random-tokens.js';

const TOKEN_PREFIX = 'regen_pat_';

export function createPersonalAccessToken(): RandomToken {
  return createRandomToken(TOKEN_PREFIX);
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
  if (!isWellFormed(TOKEN_PREFIX, token)) return undefined;
  const row = await findRow(database, 'personal_access_tokens', { hash: hashToken(token) });
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
