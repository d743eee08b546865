import type { View } from './view.js';

const shape = {
  items: 'nodes',
  columns: ['id', 'name', 'latest_version.version', 'downloads', 'status', 'description'],
  less: ['downloads', 'status', 'name', 'description'],
};

export const nodeViews: readonly View[] = [
  {
    usage: 'node create <publisherId>',
    operation: 'node.create',
    examples: ['regen node create my-team --id light-tools --name "Light tools" --tags light --tags relight'],
  },
  { usage: 'node get <nodeId>', operation: 'node.get', examples: ['regen node get hello-nodes --json'] },
  {
    usage: 'node list <publisherId>',
    operation: 'node.list',
    shape,
    examples: ['regen node list my-team --all --ndjson'],
    otherwise: ['To list the installed packs', 'node outdated <custom_nodes> --all'],
  },
  { usage: 'node search [search]', operation: 'node.search', shape, examples: ['regen node search relight'] },
  {
    usage: 'node update <nodeId>',
    operation: 'node.update',
    implied: 'publisherId',
    hide: ['id'],
    notes: ['This changes what the registry says of the node.'],
    otherwise: ['To upgrade an installed pack', 'node install'],
  },
  {
    usage: 'node delete <nodeId>',
    operation: 'node.delete',
    implied: 'publisherId',
  },
];
