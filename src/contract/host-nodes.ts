import { z } from 'zod';
import { Node } from './node.js';
import { operation } from './operation.js';
import { HostNodePaging, Paging } from './paging.js';
import { limitEntries } from './schema/entries.js';
import { choice, defineObject, defineRequest, filter, limitedText, readOnly, text } from './schema/values.js';

export const HostNodePolicy = choice('HostNodePolicyActive HostNodePolicyBanned HostNodePolicyLocalOnly');

/** The lists of choices of a definition may be long. */
const MAX_JSON_TEXT = 1_048_576;

/** service.md 2.4, a node definition. */
export const HostNode = defineObject('HostNode', {
  category: text.line.optional().describe('UI category used for grouping'),
  host_node_name: limitedText(1024).optional().describe('Unique identifier for the node'),
  deprecated: z.boolean().optional().describe('Deprecated nodes are hidden in the UI'),
  description: text.long.optional().describe('Brief description of purpose'),
  experimental: z.boolean().optional().describe('Subject to change or removal'),
  function: text.line.optional().describe('Name of the entry-point function'),
  // Decided: input_types, return_types and return_names are JSON text.
  input_types: limitedText(MAX_JSON_TEXT).optional().describe("JSON text: the host's input object"),
  output_is_list: z
    .array(z.boolean())
    .optional()
    .describe('One flag per output: whether that output is a list'),
  // Decided: extension fields of the list of all nodes, whose items would otherwise lead nowhere.
  node_id: readOnly(z.string(), 'The node that has it, in the list of all nodes', { 'x-extension': true }),
  node_version: readOnly(z.string(), 'The version that has it, in the list of all nodes', {
    'x-extension': true,
  }),
  policy: HostNodePolicy.optional(),
  return_names: limitedText(MAX_JSON_TEXT).optional().describe('JSON text: an array of output names'),
  return_types: limitedText(MAX_JSON_TEXT).optional().describe('JSON text: an array of type names'),
});

// Decided: the three filters are node_id, node_version and host_node_name, each exact.
const Filters = HostNodePaging.extend({
  node_id: filter(1024, 'Only definitions of this node'),
  node_version: filter(1024, 'Only definitions of this version; default: the latest version of each node'),
  host_node_name: filter(1024, 'Only definitions with this name'),
});

// Decided: unknown fields of a definition are refused, because they would be dropped silently.
const Definitions = defineRequest('Definitions', {
  success: z.boolean().describe('Whether the definitions could be extracted'),
  reason: z.string().max(10_000).optional().describe('Why extraction failed; recorded in the audit log'),
  nodes: limitEntries(
    20_000,
    z.record(
      z.string().min(1).max(1024),
      z.strictObject(HostNode.omit({ node_id: true, node_version: true }).shape),
    ),
  )
    .default({})
    .describe('Definitions by name'),
});

/** Definitions with one name that a bulk read finds in the latest versions of nodes. */
export const MAX_NODES_OF_NAME = 20;

const DefinitionsRequest = z
  .strictObject({
    names: z.array(z.string().min(1).max(1024)).describe('Names of node definitions'),
    node_versions: limitEntries(
      'bulkPairs',
      z.array(
        defineRequest('VersionChoice', {
          node_id: z.string().min(1).max(1024),
          version: z.string().min(1).max(1024).optional().describe('Default: the latest version'),
        }),
      ),
    )
      .default([])
      .describe('Versions to look in first'),
  })
  .meta({
    id: 'DefinitionsRequest',
    examples: [{ names: ['Hello'], node_versions: [{ node_id: 'hello-nodes', version: '1.0.0' }] }],
  });

export const hostNodes = {
  get: operation('GET /nodes/{nodeId}/versions/{version}/host-nodes/{hostNodeName}', {
    summary: 'Show one node definition of a version',
    who: 'anyone',
    response: HostNode,
  }),
  listAll: operation('GET /host-nodes', {
    summary: 'List node definitions of all nodes',
    who: 'anyone',
    query: Filters,
    response: z.object({ host_nodes: z.array(HostNode), total: z.int() }),
  }),
  list: operation('GET /nodes/{nodeId}/versions/{version}/host-nodes', {
    summary: 'List the node definitions of a version',
    tool: true,
    who: 'anyone',
    query: Paging,
    response: z.object({ host_nodes: z.array(HostNode), totalNumberOfPages: z.int() }),
  }),
  // Decided: a name that none of the versions has is looked for in the latest version of every node, the first 20 by id.
  bulk: operation('POST /bulk/host-nodes', {
    summary: 'Read the node definitions with some names, of some versions or of any node',
    who: 'anyone',
    safe: true,
    body: DefinitionsRequest,
    response: z.object({ host_nodes: z.array(HostNode), total: z.int() }),
    extension: 'says in one request what a workflow needs',
  }),
  findNode: operation('GET /host-nodes/{hostNodeName}/node', {
    summary: 'Find the node that has a node definition',
    who: 'anyone',
    response: Node,
    extension: 'says which node to install for a definition of a workflow',
  }),
  define: operation('POST /nodes/{nodeId}/versions/{version}/host-nodes', {
    summary: 'Store the node definitions of a version whose extraction is pending',
    who: 'admin in person',
    status: 204,
    body: Definitions,
    extension: 'definitions that an external extractor found',
  }),
};
