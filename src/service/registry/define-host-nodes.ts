import type { z } from 'zod';
import type { HostNode } from '../../contract/host-nodes.js';
import type { Tx } from '../database/database.js';
import type { Handlers, OperationCall } from '../operation/call.js';
import { recordAction } from '../operation/record-action.js';
import { Refused, type RefusedDetail } from '../operation/refused.js';
import { getVisibleVersion, loadViewer, versionNotFound } from './access.js';
import { storeDefinitions } from './definitions.js';

type DefineBody = OperationCall<'hostNodes.define'>['body'];
type HostNodeDefinition = z.output<typeof HostNode>;

/** Stores the definitions that an external extractor found, or that it found none. */
async function defineHostNodes(call: OperationCall<'hostNodes.define'>, tx: Tx): Promise<undefined> {
  const { params, body } = call;
  const viewer = await loadViewer(tx, call.caller);
  const { node, version } = await getVisibleVersion(tx, viewer, params.nodeId, params.version);
  if (version.status === 'NodeVersionStatusDeleted') throw versionNotFound(node.id, version.version);
  refuseInvalidDefinitions(body);
  const nodes = body.success
    ? Object.entries(body.nodes).map(([name, definition]) => ({ name, definition }))
    : undefined;
  if (!(await storeDefinitions(tx, { versionId: version.id, nodeId: node.id, nodes }))) {
    throw new Refused(
      'definitions_already_set',
      `The definitions of version ${version.version} of the node ${node.id} are already stored.`,
    );
  }
  const reason = body.reason || undefined;
  const event = { kind: 'version', id: version.id, publisherId: node.publisher_id } as const;
  await recordAction(call, tx, { ...event, action: 'version.definitions', reason });
}

// Decided: definitions are stored completely or not at all, with valid JSON in the fields that 2.4 defines as
// JSON text, and none if success is false.
function refuseInvalidDefinitions({ success, nodes }: DefineBody): void {
  const details: RefusedDetail[] = Object.entries(nodes).flatMap(([name, definition]) =>
    listProblems(name, definition).map(([field, message]) => ({ path: `nodes.${name}.${field}`, message })),
  );
  if (!success && Object.keys(nodes).length > 0) {
    details.unshift({ path: 'nodes', message: 'must be empty if success is false' });
  }
  const [first] = details;
  if (!first) return;
  const more = details.length > 1 ? `; and ${details.length - 1} more` : '';
  throw new Refused('invalid_request', `${first.path} ${first.message}${more}.`, details.slice(0, 100));
}

function listProblems(name: string, definition: HostNodeDefinition): [field: string, message: string][] {
  const { host_node_name = name, input_types, return_types, return_names } = definition;
  const problems: [string, string][] = [];
  if (host_node_name !== name) problems.push(['host_node_name', 'must equal its key in nodes']);
  if (!isJsonText(input_types, isJsonObject)) problems.push(['input_types', 'must be a JSON object as text']);
  if (!isJsonText(return_types, Array.isArray))
    problems.push(['return_types', 'must be a JSON array as text']);
  if (!isJsonText(return_names, Array.isArray))
    problems.push(['return_names', 'must be a JSON array as text']);
  return problems;
}

function isJsonObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isJsonText(text: string | undefined, isRight: (value: unknown) => boolean): boolean {
  if (text === undefined) return true;
  try {
    return isRight(JSON.parse(text));
  } catch {
    return false;
  }
}

export const definitionHandlers = {
  'hostNodes.define': { write: defineHostNodes },
} satisfies Partial<Handlers>;
