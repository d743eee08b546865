import type { View } from './view.js';

const versionId = { explain: { versionId: 'Version id, or version number' } };

export const versionViews: readonly View[] = [
  {
    usage: 'version update <publisherId> <nodeId> <versionId>',
    operation: 'version.update',
    ...versionId,
    examples: ['regen version update my-team light-tools 1.2.0 --deprecated --changelog "Use 1.3.0"'],
  },
  {
    usage: 'version delete <publisherId> <nodeId> <versionId>',
    operation: 'version.delete',
    ...versionId,
  },
  {
    usage: 'version history <publisherId> <nodeId> <versionId>',
    operation: 'version.history',
    ...versionId,
    shape: { columns: ['at', 'status', 'by', 'reason'] },
  },
];
