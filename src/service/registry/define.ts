import type { z } from 'zod';
import type { HostNode } from '../../contract/host-nodes.js';
import type { Tx } from '../context.js';
import type { Call } from '../http/handler.js';
import { Refused, type RefusedDetail } from '../refused.js';
import { storeDefinitions } from './definitions.js';
import { record } from './events.js';
import { sightOf } from './sight.js';
import { noVersion, visibleVersion } from './visible.js';

type Definitions = Call<'hostNodes.define'>['body'];
type Definition = z.output<typeof HostNode>;

/** Takes the definitions that an extractor outside the service found, or that it found none. */
export async function defineHostNodes(
  { params, body, caller, context }: Call<'hostNodes.define'>,
  tx: Tx,
): Promise<undefined> {
  const { node, version } = await visibleVersion(
    tx,
    await sightOf(tx, caller),
    params.nodeId,
    params.version,
  );
  if (version.status === 'NodeVersionStatusDeleted') throw noVersion(node.id, version.version);
  refuseInvalid(body);
  const nodes = body.success
    ? Object.entries(body.nodes).map(([name, definition]) => ({ name, definition }))
    : undefined;
  if (!(await storeDefinitions(tx, { versionId: version.id, nodeId: node.id, nodes }))) {
    throw new Refused(
      'definitions_already_set',
      `The definitions of version ${version.version} of the node ${node.id} are already stored.`,
    );
  }
  const event = { actor: caller.userId as string, kind: 'version', id: version.id } as const;
  const { reason } = body;
  await record(tx, context.now, { ...event, action: 'version.definitions', ...(reason && { reason }) });
}

// Decided: definitions are stored whole or not at all, with JSON text where 2.4 has it, and none where success is false.
function refuseInvalid({ success, nodes }: Definitions): void {
  const details: RefusedDetail[] = Object.entries(nodes).flatMap(([name, definition]) =>
    problemsOf(name, definition).map(([field, message]) => ({ path: `nodes.${name}.${field}`, message })),
  );
  if (!success && Object.keys(nodes).length > 0) {
    details.unshift({ path: 'nodes', message: 'must be empty where success is false' });
  }
  const [first] = details;
  if (!first) return;
  const more = details.length > 1 ? `; and ${details.length - 1} more` : '';
  throw new Refused('invalid_request', `${first.path} ${first.message}${more}.`, details.slice(0, 100));
}

function problemsOf(name: string, definition: Definition): [field: string, message: string][] {
  const { host_node_name = name, input_types, return_types, return_names } = definition;
  const problems: [string, string][] = [];
  if (host_node_name !== name) problems.push(['host_node_name', 'must be the name it stands under']);
  if (!isJson(input_types, isObject)) problems.push(['input_types', 'must be JSON text of an object']);
  if (!isJson(return_types, Array.isArray)) problems.push(['return_types', 'must be JSON text of a list']);
  if (!isJson(return_names, Array.isArray)) problems.push(['return_names', 'must be JSON text of a list']);
  return problems;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isJson(text: string | undefined, isRight: (value: unknown) => boolean): boolean {
  if (text === undefined) return true;
  try {
    return isRight(JSON.parse(text));
  } catch {
    return false;
  }
}
