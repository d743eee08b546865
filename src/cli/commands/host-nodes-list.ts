import { getOperation } from '../../contract/index.js';
import { buildRequest, checkRequest } from '../command/request.js';
import type { CommandContext } from './context.js';
import { callOperation } from './operation.js';

/** Lists the definitions of one version, or all that match the filters. */
export async function run(context: CommandContext): Promise<void> {
  const { command, args, flags } = context;
  const operation = getOperation('hostNodes.listAll');
  const request = buildRequest(command, args, flags);
  checkRequest(operation, command, request, false);
  const { node_id, node_version, ...rest } = request.query;
  if (node_id === undefined || node_version === undefined || rest.host_node_name !== undefined) {
    return callOperation(context, operation, request);
  }
  const { pageSize, ...paging } = rest;
  const query = pageSize === undefined ? { limit: 100, ...paging } : { ...paging, limit: pageSize };
  const params = { nodeId: node_id, version: node_version };
  await callOperation(context, getOperation('hostNodes.list'), { params, query, body: undefined });
}
