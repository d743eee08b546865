import { buildRequest } from '../command/build-request.js';
import type { CommandContext } from '../connect/context.js';
import { callOperation, requireValid } from './call-operation.js';

export async function run(context: CommandContext): Promise<void> {
  const { command, args, flags } = context;
  const request = buildRequest(command, args, flags);
  await requireValid('hostNodes.listAll', context, request, false);
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
