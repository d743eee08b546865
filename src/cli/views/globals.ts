import type { Flag } from '../command/command.js';

/** The global flags; `only` limits some of them to certain commands. */
export const globals: readonly Flag[] = [
  { name: 'base-url', value: 'url', description: 'Address of the service', only: 'service' },
  {
    name: 'profile',
    value: 'name',
    description: "Profile to use; 'local' is the embedded service",
    only: 'service',
  },
  {
    name: 'token-file',
    value: 'path',
    description: "File with the token to send, or '-' for standard input",
    only: 'service',
  },
  {
    name: 'request-timeout',
    value: 'duration',
    description: 'Idle timeout: fail a request that makes no progress for this long (default 60s)',
    only: 'service',
  },
  { name: 'json', description: "Print the service's response unchanged, as one JSON document" },
  {
    name: 'jq',
    value: 'expression',
    description: 'Filter the JSON of the answer with a jq expression, such as .id or ".nodes[].name"',
  },
  {
    name: 'columns',
    value: 'names',
    description:
      'Columns of a list, by field name and separated by commas, such as id,latest_version.version',
    only: 'list',
  },
  {
    name: 'ndjson',
    description: 'Print the items of a list as JSON, one per line, as they arrive',
    only: 'list',
  },
  {
    name: 'verbose',
    short: 'v',
    description: 'Trace requests on stderr, with secrets masked',
    only: 'service',
  },
  { name: 'quiet', short: 'q', description: 'Only print errors on stderr' },
  { name: 'no-input', description: 'Never prompt: assume yes to confirmations, fail on missing values' },
  { name: 'no-pager', description: 'Do not show long output in a pager' },
  { name: 'no-color', description: 'Turn off colour' },
  { name: 'no-autostart', description: 'Do not start the embedded service', only: 'service' },
];

/** The summary of each group of commands. */
export const groups: Readonly<Record<string, string>> = {
  publisher: 'Publishers, their members and their tokens',
  'publisher token': 'Personal access tokens for publishing',
  'publisher member': "A publisher's members",
  node: 'Nodes: create, find, change',
  version: 'Versions of a node: pack, publish, read',
  'host-nodes': 'Node definitions of published versions',
  image: 'Image generation: relight, style transfer, skin enhancement, upscaling',
  video: 'Video generation: from a prompt or images, between two frames, extension, prices',
  task: 'Tasks started from this machine: list, wait, download, cancel, run again',
  key: 'API keys with which scripts generate',
  webhook: 'Webhooks: receive, verify, inspect deliveries',
  admin: 'Administration: statuses, bans, policies, tokens, budgets, audit log',
  'admin version': 'Statuses of versions',
  'admin node': 'Bans, search rankings and admin tags of nodes',
  'admin publisher': 'Bans of publishers',
  'admin host-node': 'Policies of node definitions',
  'admin token': 'Admin tokens',
  'admin user': 'Budgets of users',
  auth: 'Sign in, sign out and show the current credential',
  config: 'Settings',
  completion: 'Shell completion of commands, flags and values',
  serve: 'Run the service itself on this machine',
};
