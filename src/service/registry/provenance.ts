import type { z } from 'zod';
import type { Provenance } from '../../contract/node-version.js';
import { compileOnce, type Database } from '../database/database.js';
import type { VersionRow } from '../database/schema.js';

type JobFacts = z.output<typeof Provenance>;

/** So many versions in a row make a habit. */
const HABIT = 3;

// Decided: once three Active versions in a row came from CI jobs, one that did not, or that came from another repository, is
// held for an admin: so begins what is published with a stolen token.
/** @returns why a version that passed its checks is held, if its origin differs from that of the versions before */
export async function findOriginChange(
  database: Database,
  version: Pick<VersionRow, 'id' | 'node_id' | 'provenance'>,
): Promise<string | undefined> {
  const before = await selectLastActive(database, version.node_id, version.id);
  const [last] = before.map(({ provenance }) => parseProvenance(provenance));
  if (before.length < HABIT || !last || before.some(({ provenance }) => provenance === null))
    return undefined;
  const now = parseProvenance(version.provenance);
  if (now && isSameOrigin(last, now)) return undefined;
  const origin = ({ repository, issuer }: JobFacts) => `CI jobs of ${repository ?? issuer}`;
  const difference = now ? `this one came from ${origin(now)}` : 'this one came with a stored token';
  return `The last ${HABIT} versions came from ${origin(last)}, and ${difference}; an admin of the registry has to review it.`;
}

const selectLastActive = compileOnce((database, nodeId: string, versionId: string) =>
  database
    .selectFrom('versions')
    .select('provenance')
    .where('node_id', '=', nodeId)
    .where('id', '<>', versionId)
    .where('status', '=', 'NodeVersionStatusActive')
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(HABIT),
);

/** A repository that was renamed has the same id. */
function isSameOrigin(one: JobFacts, other: JobFacts): boolean {
  const identify = ({ repository_id, repository }: JobFacts) => repository_id ?? repository;
  return one.issuer === other.issuer && identify(one) === identify(other);
}

export function parseProvenance(text: string | null): JobFacts | undefined {
  return text === null ? undefined : JSON.parse(text);
}
