import { LATEST } from '../../contract/schema/semantic-version.js';
import { buildRequest, type Request } from '../command/build-request.js';
import type { Needs } from '../connect/context.js';
import type { View } from '../views/view.js';
import { callOperation, requireValid } from './operation.js';

type Context = Needs<'command' | 'args' | 'flags' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'host-nodes list [node_id] [node_version]',
  operation: 'hostNodes.listAll',
  summary: 'List the node definitions of one version, or of all nodes with filters',
  explain: {
    node_id: 'Only definitions of this node',
    node_version: "Only definitions of this version (default: each node's latest version)",
  },
  shape: {
    items: 'host_nodes',
    columns: ['host_node_name', 'category', 'function', 'return_types', 'policy', 'deprecated'],
    less: ['deprecated', 'function', 'policy', 'return_types'],
  },
  examples: ['regen host-nodes list hello-nodes 1.0.0', 'regen host-nodes list --host-node-name KSampler'],
});

export async function run(context: Context): Promise<void> {
  const { command, args, flags } = context;
  const request = buildRequest(command, args, flags);
  await requireValid('hostNodes.listAll', context, request, false);
  const query = await resolveLatest(context, request.query);
  const { node_id, node_version, ...rest } = query;
  if (node_id === undefined || node_version === undefined || rest.host_node_name !== undefined) {
    const columns = [...(command.shape?.columns ?? []), 'node_id', 'node_version'];
    const named = { ...command, shape: { ...command.shape, columns } };
    return callOperation({ ...context, command: named }, 'hostNodes.listAll', { ...request, query });
  }
  const { pageSize, ...paging } = rest;
  const paged = pageSize === undefined ? { limit: 100, ...paging } : { ...paging, limit: pageSize };
  const params = { nodeId: node_id, version: node_version };
  await callOperation(context, 'hostNodes.list', { params, query: paged, body: undefined });
}

async function resolveLatest(
  { services, signal }: Context,
  query: Request['query'],
): Promise<Request['query']> {
  const { node_id, node_version } = query;
  if (node_id === undefined || node_version !== LATEST) return query;
  const { resolveVersion } = await import('../../flows/publish/published.js');
  const version = await resolveVersion(await services.reach(), String(node_id), LATEST, signal);
  return { ...query, node_version: version };
}
