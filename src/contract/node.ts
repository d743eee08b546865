import { z } from 'zod';
import { NodeVersion } from './node-version.js';
import { operation } from './operation.js';
import { definePage, Paging } from './paging.js';
import { Publisher } from './publisher.js';
import { limitEntries } from './schema/entries.js';
import { DateTime, NodeId } from './schema/identifiers.js';
import { choice, defineObject, filter, limitedText, readOnly, text, textList } from './schema/values.js';

export const NodeStatus = z.enum(['NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned']);

/** Texts by field, in one language. */
const Translation = limitEntries(100, z.record(z.string().max(100), text.long));

/** service.md 2.2. Read-only fields are set by the service or by admins, and ignored in requests. */
export const Node = defineObject('Node', {
  author: text.line.optional().describe('Author of the node'),
  banner_url: text.url.optional().describe("URL to the node's banner"),
  category: text.line.optional().meta({ description: 'Use tags instead', deprecated: true }),
  created_at: readOnly(DateTime, 'When the node was created'),
  description: limitedText(1000).optional().describe('What the node does'),
  downloads: readOnly(z.int(), 'Number of downloads'),
  repo_stars: readOnly(z.int(), 'Number of stars on the source repository'),
  icon: text.url.optional().describe("URL to the node's icon"),
  id: NodeId.optional().describe('Unique identifier of the node'),
  latest_version: readOnly(NodeVersion),
  license: text.line.optional().describe("Path to the LICENSE file in the node's repository"),
  name: text.name.optional().describe('Display name'),
  preempted_host_node_names: textList('Host node names preempted by this node', { readOnly: true }),
  publisher: readOnly(Publisher),
  rating: readOnly(z.number(), 'Average rating'),
  repository: text.url.optional().describe("URL to the node's repository"),
  search_ranking: readOnly(z.int(), 'Numeric value used to sort search results'),
  status: readOnly(NodeStatus),
  status_detail: readOnly(z.string(), 'Reason for the status'),
  supported_accelerators: textList('Accelerators the node supports'),
  supported_hostui_frontend_version: text.line.optional().describe('Supported frontend versions'),
  supported_hostui_version: text.line.optional().describe('Supported host application versions'),
  supported_os: textList('Operating systems the node supports'),
  tags: textList('Tags, which replace the category'),
  tags_admin: textList('Admin-only tags for security warnings and admin metadata', { readOnly: true }),
  // Decided: translations are `{ "<language>": { "<field>": "text" } }`.
  translations: limitEntries(100, z.record(z.string().max(100), Translation))
    .optional()
    .describe('Translations of node metadata: { "<language>": { "<field>": "text" } }'),
});

// Decided: only a publish takes an empty name, as if it were absent, because existing clients send it.
const name = text.name.min(1).describe('Display name');
const NewNode = Node.required({ id: true })
  .extend({ name })
  .meta({ id: 'NewNode', examples: [{ id: 'hello-nodes', name: 'Hello', tags: ['example'] }] });
const NodeUpdate = Node.extend({ name: name.optional() }).meta({ id: 'NodeUpdate' });

const NodeOrder = choice(
  'name name;desc create_time create_time;desc total_install total_install;desc search_ranking search_ranking;desc',
);

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
    tool: true,
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
    tool: true,
    who: 'anyone',
    query: Paging.extend({
      search: z.string().max(200).optional().describe('Words to find in the id, name, description or tags'),
      host_node_search: filter(200, 'Part of the name of a node definition of the latest version'),
      node_id: limitEntries(100, z.array(z.string().min(1).max(1024)))
        .optional()
        .describe('Only the nodes with these ids, in any letter case'),
      publisher_id: filter(1024, 'Only nodes of this publisher'),
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
      sort: NodeOrder.optional().describe('Order; default: by ranking, then age'),
    }),
    response: NodePage.extend({
      incomplete_reason: z.string().optional().describe('Why nodes may be missing'),
    }),
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
    destroys: {
      action: 'Delete node {nodeId} of {publisherId}',
      loss: 'All its versions are deleted, and the id cannot be used again.',
    },
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
