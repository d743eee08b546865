import { VERSION_PREDICATE } from '../../contract/statement.js';
import { signStatement } from '../auth/statements.js';
import { type Database, findRow } from '../database/database.js';
import type { Handlers, OperationAnswer, OperationCall, Read } from '../operation/call.js';
import { isMissing, Refused } from '../operation/refused.js';
import { getVisibleVersion, openAccess } from './access.js';
import { mayAsk } from './uplink.js';
import { VersionRules } from './uplink-rules.js';
import { viewVersion } from './views.js';

type Call = OperationCall<'version.statement'>;

/** What is vouched for; a registry did not check what it keeps of the one behind it. */
interface Vouched {
  readonly node_id: string;
  readonly version: string;
  readonly verdict: 'Active' | 'Mirrored';
  readonly archive_sha256: string;
  readonly tree_sha256: string;
  readonly created_at?: string | undefined;
  readonly provenance?: unknown;
}

const getStatement: Read<'version.statement'> = async (call, database) => {
  try {
    return await vouchForOwn(call, database);
  } catch (error) {
    const kept = isMissing(error) ? await vouchForKept(call, database) : undefined;
    if (kept === undefined) throw error;
    return kept;
  }
};

async function vouchForOwn(call: Call, database: Database): Promise<OperationAnswer<'version.statement'>> {
  const access = await openAccess(call, database);
  const { node, version } = await getVisibleVersion(access, call.params);
  const { archive_sha256, archive_tree: tree_sha256, status } = version;
  if (status !== 'NodeVersionStatusActive' || archive_sha256 === null || tree_sha256 === null)
    throw new Refused(
      'not_found',
      `Version ${version.version} of the node ${node.id} is not Active, so there is no statement on it.`,
    );
  const { createdAt, provenance } = viewVersion(access, version, node.publisher_id) as {
    createdAt?: string;
    provenance?: unknown;
  };
  const facts = { archive_sha256, tree_sha256, created_at: createdAt, provenance };
  return sign(call, { ...facts, node_id: node.id, version: version.version, verdict: 'Active' });
}

async function vouchForKept({ params, context }: Call, database: Database) {
  const { nodeId: node_id, version } = params;
  if (!(await mayAsk(context, node_id))) return undefined;
  const row = await findRow(database, 'uplink_versions', { node_id, version });
  if (!row) return undefined;
  new VersionRules(context, node_id).require(JSON.parse(row.details));
  const { archive_sha256, archive_tree: tree_sha256, fetched_at: created_at } = row;
  return sign(
    { context },
    { ...{ node_id, version, archive_sha256, tree_sha256, created_at }, verdict: 'Mirrored' },
  );
}

function sign({ context }: Pick<Call, 'context'>, vouched: Vouched) {
  const { archive_sha256, ...facts } = vouched;
  return signStatement(context, {
    subject: [{ name: `${facts.node_id}-${facts.version}.zip`, digest: { sha256: archive_sha256 } }],
    predicateType: VERSION_PREDICATE,
    predicate: { registry: context.baseUrl(), ...facts },
  });
}

export const versionStatementHandlers = {
  'version.statement': { read: getStatement },
} satisfies Partial<Handlers>;
