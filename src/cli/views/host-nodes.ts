import type { View } from './view.js';

export const hostNodeViews: readonly View[] = [
  {
    usage: 'host-nodes find <hostNodeName>',
    operation: 'hostNodes.findNode',
    examples: ['regen host-nodes find KSampler'],
  },
];
