import { flag } from '../command/flags.js';
import type { View } from './view.js';

const shape = {
  items: 'nodes',
  columns: ['id', 'name', 'latest_version.version', 'downloads', 'status', 'description'],
  less: ['description', 'downloads', 'name'],
};

const init: View = {
  usage: 'node init [dir]',
  module: 'init',
  local: true,
  summary: 'Create the pyproject.toml of a node pack, and ask for values that the folder does not provide',
  explain: { dir: 'Folder of the node pack (default: the current folder)' },
  flags: [
    flag('--id <nodeId>', "Node id (default: from the folder's name)"),
    flag('--name <text>', 'Display name (default: from the id)'),
    flag('--publisher <publisherId>', 'Publisher to publish under'),
    flag('--version <version>', 'First version (default 1.0.0)'),
    flag('--description <text>', 'What the pack does (default: the first paragraph of the README)'),
    flag(
      '--license <path>',
      'Licence name, or the path of its file (default: the licence file in the folder)',
    ),
    flag('--repository <url>', 'Source repository (default: the git remote)'),
    flag('--force', 'Overwrite an existing pyproject.toml'),
  ],
  examples: ['regen node init', 'regen node init packs/light --publisher my-team --no-input'],
};

export const nodeViews: readonly View[] = [
  init,
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
  },
  { usage: 'node search [search]', operation: 'node.search', shape, examples: ['regen node search relight'] },
  { usage: 'node update <publisherId> <nodeId>', operation: 'node.update', hide: ['id'] },
  {
    usage: 'node delete <publisherId> <nodeId>',
    operation: 'node.delete',
  },
];
