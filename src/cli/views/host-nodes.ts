import type { View } from './view.js';

export const hostNodeViews: readonly View[] = [
  {
    usage: 'host-nodes find <hostNodeName>',
    operation: 'hostNodes.findNode',
    examples: ['regen host-nodes find KSampler'],
  },
  {
    usage: 'host-nodes list [node_id] [node_version]',
    operation: 'hostNodes.listAll',
    module: 'host-nodes-list',
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
  },
];
