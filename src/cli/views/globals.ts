import type { Flags } from '../command/flags.js';

/** The global flags; `only` limits some of them to certain commands. */
export const globals: Flags = {
  '--base-url <url>': { description: 'Address of the service', only: 'service' },
  '--profile <name>': { description: "Profile to use; 'local' is the embedded service", only: 'service' },
  '--token-file <path>': {
    description: 'File with the token to send, or - for standard input',
    only: 'service',
  },
  '--request-timeout <duration>': {
    description: 'Idle timeout: fail a request that makes no progress for this long (default 60s)',
    only: 'service',
  },
  '--json': "Print the service's response unchanged, as one JSON document",
  '--jq <expression>': 'Filter the JSON of the response with a jq expression, such as .id or ".nodes[].name"',
  '--columns <names>': {
    description:
      'Columns of a list, by field name and separated by commas, such as id,latest_version.version',
    only: 'list',
  },
  '--ndjson': {
    description: 'Print the items of a list as JSON, one per line, as they arrive',
    only: 'list',
  },
  '-v, --verbose': { description: 'Trace requests on stderr, with secrets masked', only: 'service' },
  '-q, --quiet': 'Only print errors on stderr',
  '--no-input':
    'Never prompt: fail on missing values and where --yes is required; assume yes to other confirmations',
  '--no-pager': 'Do not show long output in a pager',
  '--no-color': 'Turn off color',
  '--no-autostart': { description: 'Do not start the embedded service', only: 'service' },
};

export const groups: Readonly<Record<string, string>> = {
  publisher: 'Publishers, their members and their tokens',
  'publisher token': 'Personal access tokens for publishing',
  'publisher trust': 'CI jobs that may publish without a stored token',
  'publisher member': "A publisher's members",
  node: 'Nodes: create, find, change; install their packs into a host',
  version: 'Versions of a node: pack, publish, read',
  workflow: 'Workflows of the graph editor: what they need, and what an upgrade breaks',
  'host-nodes': 'Node definitions of published versions',
  registry: 'The registry as a whole: its changes',
  image: 'Image generation: relight, style transfer, skin enhancement, upscaling',
  video: 'Video generation: from a prompt or images, between two frames, extension, prices',
  task: 'Tasks started from this machine: list, wait, download, cancel, run again',
  key: 'API keys for scripts that make images and videos',
  webhook: 'Webhooks: receive, verify, inspect deliveries',
  admin: 'Administration: statuses, bans, policies, tokens, budgets, audit log',
  'admin version': 'Statuses of versions',
  'admin node': 'Bans, search rankings and admin tags of nodes',
  'admin publisher': 'Bans of publishers, and their members',
  'admin publisher member': 'Members of any publisher',
  'admin host-node': 'Policies of node definitions',
  'admin token': 'Admin tokens',
  'admin user': 'Users and their budgets',
  auth: 'Sign in, sign out and show the current credential',
  config: 'Settings',
  completion: 'Shell completion of commands, flags and values: install it, or print the script',
  serve: 'Run the service itself on this machine',
};

/** The order of help: first words, and the commands that begin each group. The others follow as they are declared. */
export const order: Readonly<Record<string, readonly string[]>> = {
  publisher:
    'create, get, list, update, delete, audit, token create, token list, token check, trust add, trust list, trust check'.split(
      ', ',
    ),
  node: 'scaffold, init, install, sync, audit, outdated, remove'.split(', '),
  version:
    'publish, pack, check, bump, deprecate, diff, verify, update, get, list, delete, history, download'.split(
      ', ',
    ),
  'host-nodes': ['find', 'list', 'get', 'compare'],
  workflow: ['check'],
  registry: [],
  image: [],
  video: 'text2video, start-end2video, extend, status'.split(', '),
  task: 'list, show, wait, download, verify, cancel, forget, rerun'.split(', '),
  key: [],
  usage: [],
  exec: [],
  batch: [],
  mcp: [],
  webhook: 'listen, verify, trigger, secret'.split(', '),
  admin: 'generate-token, exec, review'.split(', '),
  api: [],
  auth: ['login'],
  config: [],
  doctor: [],
  completion: [],
  schema: [],
  serve: ', init, prefetch, backup, restore, check, copy, migrate, prune'.split(', '),
};
