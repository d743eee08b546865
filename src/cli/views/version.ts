import type { View } from './view.js';

const versionId = {
  explain: { versionId: 'Version number, latest, or version id' },
  implied: 'publisherId',
};

export const versionViews: readonly View[] = [
  {
    usage: 'version update <nodeId> <versionId>',
    operation: 'version.update',
    ...versionId,
    examples: ['regen version update light-tools 1.2.0 --changelog "Faster on large images"'],
  },
  {
    usage: 'version delete <nodeId> <versionId>',
    operation: 'version.delete',
    ...versionId,
  },
  { usage: 'version readme <nodeId> <version>', operation: 'version.readme', shape: { only: 'text' } },
  {
    usage: 'version history <nodeId> <versionId>',
    operation: 'version.history',
    ...versionId,
    shape: { columns: ['at', 'status', 'by', 'reason'] },
  },
];
