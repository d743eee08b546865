import { flag } from '../command/flags.js';
import type { View } from './view.js';

const data = flag(
  '--data <folder>',
  'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)',
);

const config = flag(
  '--config <path>',
  'Service configuration file: TOML if its name ends in .toml, otherwise JSON',
);

const onData = { module: 'serve-data', local: true } as const;
const onService = { module: 'serve-control', local: true } as const;

export const serveViews: readonly View[] = [
  {
    usage: 'serve',
    module: 'serve',
    local: true,
    summary:
      'Run the service (registry and generation) on this machine, and print its URL on stdout once it is ready',
    flags: [
      flag('--host <address>', 'Address to listen on (default 127.0.0.1)'),
      flag('--port <number>', 'Port to listen on, 0 for a free one (default 7717)'),
      data,
      config,
      flag('--work <kinds>', 'Run only these kinds of jobs, separated by commas; others share the database'),
      flag('--no-work', 'Run no jobs; other services share the database and do'),
      flag('--any-port', 'Use a free port if the given one is in use', { hidden: true }),
      flag('--until-idle <duration>', 'Exit after this long without work', { hidden: true }),
      flag('--from <folder>', 'The folder that paths are relative to', { hidden: true }),
      flag('--detach', 'Run in the background; return once the service is ready'),
      flag(
        '--scenario <path>',
        'File with failures to simulate, to test scripts: TOML or JSON; only on loopback',
      ),
      flag('--seed <number>', 'With --scenario: repeat the run that had this seed'),
      flag('--check', 'Check the configuration, and start nothing'),
      flag('--print-config', 'Print the configuration with its defaults as JSON, and start nothing'),
    ],
    notes: [
      'Settings come from the flags, then from variables such as REGEN_SERVE_PORT, then from the configuration file; docs/configuration.md lists them.',
    ],
    examples: ['regen serve', 'regen serve --port 0 --data ./registry --detach'],
  },
  {
    usage: 'serve init [path]',
    ...onData,
    summary: 'Write a configuration file that explains every setting',
    explain: { path: 'The file to create (default: regen.toml)' },
    examples: ['regen serve init', 'regen serve --config regen.toml --check'],
  },
  {
    usage: 'serve backup <path>',
    ...onData,
    summary:
      'Copy the data of a service, running or not, into a new folder or .zip archive, and check the copy',
    explain: { path: 'The folder or .zip archive to create' },
    flags: [data, config],
    notes: [
      'A backup from PostgreSQL is an embedded database, too. To put it back, run serve restore, then serve copy.',
      'The copy holds the signing keys and the hashes of tokens: keep it as safe as the data folder. It leaves out the token of the embedded owner.',
    ],
    examples: [
      'regen serve backup backups/monday.zip',
      'regen serve backup /backups/monday --config /etc/regen/regen.toml',
    ],
  },
  {
    usage: 'serve restore <path>',
    ...onData,
    summary: 'Copy a backup into a data folder that is new or empty, and check it',
    explain: { path: 'A folder or .zip archive that serve backup wrote' },
    flags: [data],
    examples: ['regen serve restore backups/monday.zip --data ./registry'],
  },
  {
    usage: 'serve check',
    ...onData,
    summary: 'Check the database and every stored file against its digest; exits 6 if something is damaged',
    flags: [data, config],
  },
  {
    usage: 'serve copy',
    ...onData,
    summary:
      'Copy the data of a stopped service to the PostgreSQL database and the storage of a configuration',
    flags: [data, flag('--to <path>', 'Configuration file of the service to copy to')],
    notes: ['The database must be empty. The data folder stays as it is.'],
    examples: ['regen serve copy --to /etc/regen/regen.toml'],
  },
  {
    usage: 'serve migrate',
    ...onData,
    summary: 'Upgrade the data of a stopped service to this release, as its next start would',
    flags: [config, data, flag('--check', 'Change nothing; exit 6 if steps are missing, and say which')],
    notes: [
      'With PostgreSQL, services of the earlier release may keep running if --check reports that all steps are rolling.',
    ],
    examples: ['regen serve migrate --check', 'regen serve migrate --config /etc/regen/regen.toml'],
  },
  {
    usage: 'serve prune',
    ...onData,
    destroys: {
      action: 'Remove what the retention settings of {data} no longer keep',
      loss: 'Only a backup brings it back.',
    },
    summary: 'Remove what the retention settings no longer keep, as the service does once a day',
    flags: [config, data, flag('--dry-run', 'Only count what would be removed')],
    shape: { columns: ['kind', 'days', 'count', 'bytes'] },
    notes: ['It can run while the service runs.'],
    examples: ['regen serve prune --dry-run', 'regen serve prune --yes --config /etc/regen/regen.toml'],
  },
  {
    usage: 'serve status',
    ...onService,
    summary: 'Show the running service and the disk space that its data takes; exits 7 if there is none',
    flags: [data, config],
  },
  {
    usage: 'serve stop',
    ...onService,
    summary: 'Stop the running service once it has finished its current work',
    flags: [data, config],
  },
  {
    usage: 'serve rotate-key',
    ...onService,
    summary: 'Sign new tokens with a new key, whether or not the service is running',
    flags: [data, config],
  },
  {
    usage: 'serve rotate-token',
    ...onService,
    destroys: {
      action: 'Replace the owner token of {data}',
      loss: 'Programs that send the old token are refused at once.',
    },
    summary: 'Replace the token of the embedded owner, whether or not the service is running',
    flags: [data, config],
  },
  {
    usage: 'serve logs',
    ...onService,
    summary: 'Print the log of services started in the background',
  },
];
