import type { z } from 'zod';
import type { HostNode } from '../../contract/host-nodes.js';
import { isRecord, parseJson } from '../../contract/json.js';
import type { NamedProblem } from '../../contract/schema/message.js';
import {
  DEFINITIONS_TOO_LARGE,
  type FoundNode,
  MAX_DEFINITION_BYTES,
  measureDefinition,
} from '../../python/definitions/definitions.js';
import { type Tx, updateRows } from '../database/database.js';
import type { Handlers, OperationCall, Write } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import { chargeDailyQuota } from '../operation/quota.js';
import { recordAction } from '../operation/record-action.js';
import { invalidFields, Refused } from '../operation/refused.js';
import { createVersionNotFound, getVisibleVersion, openAccess } from './access.js';
import { refreshListing, removeDefinitions } from './listed-host-nodes.js';

type NamedDefinition = Pick<FoundNode, 'name' | 'definition'>;

interface FoundDefinitions {
  readonly versionId: string;
  readonly nodeId: string;
  /** Absent if extraction failed. */
  readonly nodes: readonly NamedDefinition[] | undefined;
}

/** The limit of a path parameter: a definition with a longer name could not be requested. */
const MAX_NAME_CHARACTERS = 1024;

/** Bytes of definitions as they are stored. */
export function measureDefinitions(nodes: readonly NamedDefinition[] = []): number {
  return nodes.reduce((sum, { definition }) => sum + measureDefinition(definition), 0);
}

// Decided: the bytes of definitions count as uploaded by the publisher, because few bytes of an archive can make many.
export async function chargeDefinitions(
  tx: Tx,
  context: Pick<Context, 'now'>,
  { publisherId, nodes }: { readonly publisherId: string; readonly nodes: FoundDefinitions['nodes'] },
): Promise<void> {
  const amount = measureDefinitions(nodes);
  if (amount > 0) await chargeDailyQuota(tx, context, { publisherId, quota: 'bytesPerDay', amount });
}

/**
 * Stores the definitions of a version and sets its extract status.
 * @returns false, with nothing changed, if its extraction is not pending
 */
export async function storeDefinitions(
  tx: Tx,
  { versionId, nodeId, nodes }: FoundDefinitions,
): Promise<boolean> {
  const updated = await updateRows(
    tx,
    'versions',
    { id: versionId, extract_status: 'pending' },
    { extract_status: nodes ? 'success' : 'failed' },
  );
  if (updated === 0) return false;
  const rows = (nodes ?? [])
    .map(({ name, definition }) => ({ name: name.replaceAll('\0', '').toWellFormed(), definition }))
    .filter(({ name }) => name !== '' && name.length <= MAX_NAME_CHARACTERS)
    .map(({ name, definition }) => ({
      version_id: versionId,
      node_id: nodeId,
      name,
      definition: JSON.stringify({ ...definition, host_node_name: name }),
      policy: definition.policy ?? 'HostNodePolicyActive',
    }));
  // In batches, because databases limit the values in one statement.
  for (let start = 0; start < rows.length; start += 100) {
    await tx
      .insertInto('host_nodes')
      .values(rows.slice(start, start + 100))
      .onConflict((conflict) => conflict.columns(['version_id', 'name']).doNothing())
      .execute();
  }
  await refreshListing(tx, nodeId);
  return true;
}

// Decided: a version number that is registered again starts without the definitions stored before.
export async function forgetDefinitions(tx: Tx, versionId: string): Promise<void> {
  await removeDefinitions(tx, versionId);
  await updateRows(tx, 'versions', { id: versionId }, { extract_status: 'pending' });
}

type DefineBody = OperationCall<'hostNodes.define'>['body'];
type HostNodeDefinition = z.output<typeof HostNode>;

/** Stores the definitions that an external extractor found, or that it found none. */
const defineHostNodes: Write<'hostNodes.define'> = async (call, tx) => {
  const { params, body } = call;
  const access = await openAccess(call, tx);
  const { node, version } = await getVisibleVersion(access, params);
  if (version.status === 'NodeVersionStatusDeleted')
    throw await createVersionNotFound(access, node, version.version);
  refuseInvalidDefinitions(body);
  const nodes = body.success
    ? Object.entries(body.nodes).map(([name, definition]) => ({ name, definition }))
    : undefined;
  if (measureDefinitions(nodes) > MAX_DEFINITION_BYTES)
    throw new Refused('too_large', `The definitions cannot be stored: ${DEFINITIONS_TOO_LARGE}.`);
  if (!(await storeDefinitions(tx, { versionId: version.id, nodeId: node.id, nodes })))
    throw new Refused(
      'definitions_already_set',
      `The definitions of version ${version.version} of the node ${node.id} are already stored.`,
    );
  await chargeDefinitions(tx, call.context, { publisherId: node.publisher_id, nodes });
  const reason = body.reason || undefined;
  const event = { kind: 'version', id: version.id, publisherId: node.publisher_id } as const;
  await recordAction(call, tx, { ...event, action: 'version.definitions', reason });
};

// Decided: definitions are stored completely or not at all, with valid JSON in the fields that 2.4 defines as
// JSON text, and none if success is false.
function refuseInvalidDefinitions({ success, nodes }: DefineBody): void {
  const details: NamedProblem[] = Object.entries(nodes).flatMap(([name, definition]) =>
    listProblems(name, definition).map(([field, message]) => ({ path: `nodes.${name}.${field}`, message })),
  );
  if (!success && Object.keys(nodes).length > 0)
    details.unshift({ path: 'nodes', message: 'must be empty if success is false' });
  if (details.length > 0) throw invalidFields(details);
}

function listProblems(name: string, definition: HostNodeDefinition): [field: string, message: string][] {
  const { host_node_name = name, input_types, return_types, return_names } = definition;
  const problems: [string, string][] = [];
  if (host_node_name !== name) problems.push(['host_node_name', 'must equal its key in nodes']);
  if (!isJsonText(input_types, isRecord)) problems.push(['input_types', 'must be a JSON object as text']);
  for (const [field, text] of Object.entries({ return_types, return_names }))
    if (!isJsonText(text, Array.isArray)) problems.push([field, 'must be a JSON array as text']);
  return problems;
}

function isJsonText(text: string | undefined, isRight: (value: unknown) => boolean): boolean {
  return text === undefined || isRight(parseJson(text));
}

export const definitionHandlers = {
  'hostNodes.define': { write: defineHostNodes },
} satisfies Partial<Handlers>;
