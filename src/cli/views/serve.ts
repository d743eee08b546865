import type { View } from './view.js';

const data = {
  name: 'data',
  value: 'folder',
  description: 'Folder of the database, the archives and the keys (default: $XDG_DATA_HOME/regen)',
} as const;

export const serveViews: readonly View[] = [
  {
    usage: 'serve',
    module: 'serve',
    local: true,
    summary:
      'Run the service on this machine, registry and generation; its URL is the one line on stdout once it is ready',
    flags: [
      { name: 'host', value: 'address', description: 'Address to listen on (default 127.0.0.1)' },
      { name: 'port', value: 'number', description: 'Port to listen on, 0 for a free one (default 7717)' },
      data,
      {
        name: 'config',
        value: 'path',
        description: 'File with the service configuration, TOML or JSON by its name',
      },
      { name: 'any-port', description: 'Take a free port where the wanted one is taken', hidden: true },
      { name: 'until-idle', value: 'duration', description: 'End after so long without work', hidden: true },
      { name: 'detach', description: 'Go on in the background once it is ready' },
    ],
    examples: ['regen serve', 'regen serve --port 0 --data ./registry --detach'],
  },
  {
    usage: 'serve status',
    module: 'serve-status',
    local: true,
    summary: 'Show the running service; exit 7 when there is none',
    flags: [data],
  },
  {
    usage: 'serve stop',
    module: 'serve-stop',
    local: true,
    summary: 'Let the running service finish what it does, and end it',
    flags: [data],
  },
  {
    usage: 'serve rotate-key',
    module: 'serve-rotate-key',
    local: true,
    summary: 'Sign tokens with a new key from now on, whether the service runs or not',
    flags: [data],
  },
  {
    usage: 'serve rotate-token',
    module: 'serve-rotate-token',
    local: true,
    summary: "Replace the embedded owner's token, whether the service runs or not",
    flags: [data],
  },
  {
    usage: 'serve logs',
    module: 'serve-logs',
    local: true,
    summary: 'Print the log of services started in the background',
  },
];
