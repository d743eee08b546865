import type { Flag } from '../command/command.js';

/** The flags every command takes. */
export const globals: readonly Flag[] = [
  { name: 'base-url', value: 'url', description: 'Service to talk to', only: 'service' },
  {
    name: 'profile',
    value: 'name',
    description: "Profile of the settings to use; 'local' is the embedded service",
    only: 'service',
  },
  {
    name: 'token-file',
    value: 'path',
    description: "File that holds the token to send, or '-' for standard input",
    only: 'service',
  },
  {
    name: 'request-timeout',
    value: 'duration',
    description: 'Give up on a request that makes no progress for this long (default 60s)',
    only: 'service',
  },
  { name: 'json', description: "Print the service's answer unchanged, as one JSON document" },
  {
    name: 'ndjson',
    description: 'Print the items of a list as JSON, one a line, as they come',
    only: 'list',
  },
  { name: 'verbose', short: 'v', description: 'Trace requests on stderr, secrets masked', only: 'service' },
  { name: 'quiet', short: 'q', description: 'Say nothing on stderr but errors' },
  { name: 'no-input', description: 'Never ask: go on where a yes is wanted, fail where a value is' },
  { name: 'no-color', description: 'No colour' },
  { name: 'no-autostart', description: 'Do not start the embedded service', only: 'service' },
];

/** Shown beside each group of commands. */
export const groups: Readonly<Record<string, string>> = {
  publisher: 'Publishers, their members and their tokens',
  'publisher token': 'Personal access tokens for publishing',
  'publisher member': "A publisher's members",
  node: 'Nodes: create, find, change',
  version: 'Versions of a node: pack, publish, read',
  'host-nodes': 'Node definitions of published versions',
  image: 'Image generation: relight, style transfer, skin enhancement, upscaling',
  video: 'Video generation: from a prompt or a picture, between two pictures, longer; what it costs',
  task: 'The tasks started from here, and how to get back to them',
  webhook: 'Being told of tasks: receive, verify, look at deliveries',
  admin: 'What admins do: statuses, bans, policies, tokens, audit',
  'admin version': 'Statuses of versions',
  'admin node': 'Bans, rankings and admin tags of nodes',
  'admin publisher': 'Bans of publishers',
  'admin host-node': 'Policies of node definitions',
  'admin token': 'Admin tokens',
  auth: 'Credentials',
  config: 'Settings',
  completion: 'Completion of commands, flags and values in a shell',
  serve: 'The service itself, on this machine',
};
