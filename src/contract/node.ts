import { z } from 'zod';
import { NodeVersion } from './node-version.js';
import { operation } from './operation.js';
import { definePage, Paging } from './paging.js';
import { Publisher } from './publisher.js';
import { limitEntries } from './schema/entries.js';
import { DateTime, NodeId } from './schema/identifiers.js';
import {
  defineObject,
  filter,
  limitedText,
  MAX_LINE,
  MAX_NAME,
  MAX_TEXT,
  MAX_URL,
  textList,
} from './schema/values.js';

export const NodeStatus = z.enum(['NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned']);

/** Texts by field, in one language. */
const Translation = limitEntries(100, z.record(z.string().max(100), limitedText(MAX_TEXT)));

/** service.md 2.2. Read-only fields are set by the service or by admins, and ignored in requests. */
export const Node = defineObject('Node', {
  author: limitedText(MAX_LINE).optional().describe('Author of the node'),
  banner_url: limitedText(MAX_URL).optional().describe("URL to the node's banner"),
  category: limitedText(MAX_LINE).optional().meta({ description: 'Use tags instead', deprecated: true }),
  created_at: DateTime.optional().meta({ description: 'When the node was created', readOnly: true }),
  description: limitedText(1000).optional().describe('What the node does'),
  downloads: z.int().optional().meta({ description: 'Number of downloads', readOnly: true }),
  repo_stars: z
    .int()
    .optional()
    .meta({ description: 'Number of stars on the source repository', readOnly: true }),
  icon: limitedText(MAX_URL).optional().describe("URL to the node's icon"),
  id: NodeId.optional().describe('Unique identifier of the node'),
  latest_version: NodeVersion.optional().meta({ readOnly: true }),
  license: limitedText(MAX_LINE).optional().describe("Path to the LICENSE file in the node's repository"),
  name: limitedText(MAX_NAME).optional().describe('Display name'),
  preempted_host_node_names: textList('Host node names preempted by this node', { readOnly: true }),
  publisher: Publisher.optional().meta({ readOnly: true }),
  rating: z.number().optional().meta({ description: 'Average rating', readOnly: true }),
  repository: limitedText(MAX_URL).optional().describe("URL to the node's repository"),
  search_ranking: z
    .int()
    .optional()
    .meta({ description: 'Numeric value used to sort search results', readOnly: true }),
  status: NodeStatus.optional().meta({ readOnly: true }),
  status_detail: z.string().optional().meta({ description: 'Reason for the status', readOnly: true }),
  supported_accelerators: textList('Accelerators the node supports'),
  supported_hostui_frontend_version: limitedText(MAX_LINE).optional().describe('Supported frontend versions'),
  supported_hostui_version: limitedText(MAX_LINE).optional().describe('Supported host application versions'),
  supported_os: textList('Operating systems the node supports'),
  tags: textList('Tags, which replace the category'),
  tags_admin: textList('Admin-only tags for security warnings and admin metadata', { readOnly: true }),
  // Decided: translations are `{ "<language>": { "<field>": "text" } }`.
  translations: limitEntries(100, z.record(z.string().max(100), Translation))
    .optional()
    .describe('Translations of node metadata: { "<language>": { "<field>": "text" } }'),
});

// Decided: only a publish takes an empty name, as if it were absent, because existing clients send it.
const name = limitedText(MAX_NAME).min(1).describe('Display name');
const NewNode = Node.required({ id: true })
  .extend({ name })
  .meta({ id: 'NewNode', examples: [{ id: 'hello-nodes', name: 'Hello', tags: ['example'] }] });
const NodeUpdate = Node.extend({ name: name.optional() }).meta({ id: 'NodeUpdate' });

const NODE_ORDERS = [
  ...(['name', 'name;desc', 'create_time', 'create_time;desc'] as const),
  ...(['total_install', 'total_install;desc', 'search_ranking', 'search_ranking;desc'] as const),
] as const;

const NodePage = definePage({ nodes: z.array(Node) });

export const node = {
  create: operation('POST /publishers/{publisherId}/nodes', {
    summary: 'Create a node under a publisher',
    who: 'owner writes',
    status: 201,
    body: NewNode,
    response: Node,
  }),
  get: operation('GET /nodes/{nodeId}', {
    summary: 'Show a node',
    who: 'anyone',
    query: z.object({
      include_translations: z.boolean().default(false).describe('Include translations of node metadata'),
    }),
    response: Node,
  }),
  list: operation('GET /publishers/{publisherId}/nodes/v2', {
    summary: "List a publisher's nodes",
    who: 'bearer',
    query: Paging,
    response: NodePage,
  }),
  search: operation('GET /nodes', {
    summary: 'Search the nodes of all publishers',
    who: 'anyone',
    query: Paging.extend({
      search: z.string().max(200).optional().describe('Words to find in the id, name, description or tags'),
      host_node_search: filter(200, 'Part of the name of a node definition of the latest version'),
      timestamp: DateTime.max(64)
        .optional()
        .describe('Only nodes that, or whose latest version, were created at or after this time'),
      supported_os: filter(
        200,
        'Only nodes that support this operating system; one that lists none supports all',
      ),
      supported_accelerator: filter(
        200,
        'Only nodes that support this accelerator; one that lists none supports all',
      ),
      include_banned: z.boolean().default(false).describe('Include banned nodes; for admins'),
      sort: z.enum(NODE_ORDERS).optional().describe('Order; default: by ranking, then age'),
    }),
    response: NodePage,
    extension: 'finds nodes without knowing their publisher',
  }),
  update: operation('PUT /publishers/{publisherId}/nodes/{nodeId}', {
    summary: "Update a node's details",
    who: 'owner writes',
    body: NodeUpdate,
    response: Node,
    extension: 'changes what 4.3.3 creates',
  }),
  delete: operation('DELETE /publishers/{publisherId}/nodes/{nodeId}', {
    summary: 'Delete a node; its id cannot be used again',
    who: 'owner writes',
    status: 204,
    extension: 'status NodeStatusDeleted is shown',
  }),
  install: operation('GET /nodes/{nodeId}/install', {
    summary: 'Find the version to install, and count the download',
    who: 'anyone',
    query: z.object({
      version: filter(256, 'Version to install; default: the latest'),
    }),
    response: NodeVersion,
    counts: true,
    extension: 'downloads of a node are counted',
  }),
};
