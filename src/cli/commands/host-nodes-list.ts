import { buildRequest } from '../command/build-request.js';
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
  await requireValid('hostNodes.listAll', command, request, false);
  const { node_id, node_version, ...rest } = request.query;
  if (node_id === undefined || node_version === undefined || rest.host_node_name !== undefined) {
    const columns = [...(command.shape?.columns ?? []), 'node_id', 'node_version'];
    const named = { ...command, shape: { ...command.shape, columns } };
    return callOperation({ ...context, command: named }, 'hostNodes.listAll', request);
  }
  const { pageSize, ...paging } = rest;
  const query = pageSize === undefined ? { limit: 100, ...paging } : { ...paging, limit: pageSize };
  const params = { nodeId: node_id, version: node_version };
  await callOperation(context, 'hostNodes.list', { params, query, body: undefined });
}
