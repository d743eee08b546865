import { z } from 'zod';
import { operation } from './operation.js';
import { DateTime } from './schema/identifiers.js';
import { defineObject, filter } from './schema/values.js';

const Change = defineObject('Change', {
  cursor: z.string().describe('Its place in the feed: the next request begins after it'),
  at: DateTime,
  change: z.string().meta({
    description: 'What was changed, and what it became',
    examples: ['version.active', 'version.deprecated', 'version.banned', 'version.deleted', 'node.created'],
  }),
  publisher_id: z.string().optional(),
  node_id: z.string().optional().describe('Absent if it concerns a publisher'),
  version: z.string().optional().describe('Absent if it concerns a node or a publisher'),
});

const Changes = defineObject('Changes', {
  changes: z.array(Change),
  cursor: z.string().describe('The place after these changes, for the next request'),
  more: z.boolean().describe('Whether there are more changes now'),
});

// Decided: the feed says what became of public things and nothing of what was never public. Reasons are left out:
// who may read them finds them in the history of a version.
const ChangesQuery = z.object({
  since: filter(100, 'Only changes after this cursor (default: from the first change)'),
  last: z
    .int()
    .min(0)
    .max(1000)
    .optional()
    .describe('Only the last changes, as many as this, instead of since'),
  node_id: filter(1024, 'Only changes of this node'),
  limit: z.int().min(1).max(1000).default(100).describe('Changes in one answer'),
});

export const registry = {
  changes: operation('GET /changes', {
    summary: 'List public changes of nodes and versions in order, for mirrors',
    who: 'anyone',
    query: ChangesQuery,
    // A cursor that the feed does not have.
    ownErrors: [410],
    response: Changes,
    extension: 'lets mirrors follow the registry',
  }),
};
