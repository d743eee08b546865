import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { regen, say } from '../../contract/schema/message.js';
import { readText } from '../command/command.js';
import { confirmDestruction, reportDestruction } from '../command/confirm.js';
import type { Needs } from '../connect/context.js';
import { readConfiguration } from '../connect/service-configuration.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import { formatCount, shellWord } from '../terminal/text.js';
import { Count, Row, Text } from '../views/answers.js';
import { configFlag, dataFlag } from '../views/flags.js';
import type { View } from '../views/view.js';
import { buildConfiguration, loadService, requireDataFolder } from './serve.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'folders' | 'mayAsk'>;

export function view(): View[] {
  const Report = z.object({
    data: Text.optional(),
    backup: Text.optional(),
    objects: Count,
    bytes: Count,
    problems: Row({ object: Text, message: Text }),
  });
  return [
    {
      usage: 'serve init [path]',
      local: true,
      summary: 'Write a configuration file that explains every setting',
      explain: { path: 'The file to create (default: regen.toml)' },
      examples: ['regen serve init', 'regen serve --config regen.toml --check'],
    },
    {
      usage: 'serve backup <path>',
      local: true,
      summary:
        'Copy the data of a service, running or not, into a new folder or .zip archive, and check the copy',
      explain: { path: 'The folder or .zip archive to create' },
      flags: { ...dataFlag, ...configFlag },
      notes: [
        'A backup from PostgreSQL is an embedded database, too.',
        'The copy holds the signing keys and the hashes of tokens: keep it as safe as the data folder. It leaves out the token of the embedded owner.',
      ],
      examples: [
        'regen serve backup /backups/monday.zip --config /etc/regen/regen.toml',
        'regen serve backup backups/monday',
      ],
      answer: Report,
    },
    {
      usage: 'serve restore <path>',
      local: true,
      summary: 'Copy a backup into a data folder that is new or empty, and check it',
      explain: { path: 'A folder or .zip archive that serve backup wrote' },
      flags: { ...dataFlag, ...configFlag },
      notes: [
        'To put a backup back into PostgreSQL, restore it with --data into another folder, then run serve copy.',
      ],
      examples: [
        'regen serve restore backups/monday.zip --data ./registry',
        'regen serve restore /backups/monday.zip --config /etc/regen/regen.toml',
      ],
      answer: Report,
    },
    {
      usage: 'serve check',
      local: true,
      summary: 'Check the database and every stored file against its digest; exits 6 if something is damaged',
      flags: { ...dataFlag, ...configFlag },
      examples: ['regen serve check --config /etc/regen/regen.toml'],
      answer: Report,
    },
    {
      usage: 'serve copy',
      local: true,
      summary:
        'Copy the data of a stopped service to the PostgreSQL database and the storage of a configuration',
      flags: { ...dataFlag, '--to <path>': 'Configuration file of the service to copy to' },
      notes: ['The database must be empty. The data folder stays as it is.'],
      examples: ['regen serve copy --to /etc/regen/regen.toml'],
    },
    {
      usage: 'serve migrate',
      local: true,
      summary: 'Upgrade the data of a stopped service to this release, as its next start would',
      flags: {
        ...configFlag,
        ...dataFlag,
        '--check': 'Change nothing; exit 6 if steps are missing, and say which',
      },
      notes: [
        'With PostgreSQL, services of the earlier release may keep running if --check reports that all steps are rolling.',
      ],
      examples: [
        'regen serve migrate --check --config /etc/regen/regen.toml',
        'regen serve migrate --config /etc/regen/regen.toml',
      ],
    },
    {
      usage: 'serve prune',
      local: true,
      destroys: {
        action: 'Remove what the retention settings of {data} no longer keep',
        loss: 'Only a backup brings it back.',
      },
      summary: 'Remove what the retention settings no longer keep, as the service does once a day',
      flags: { ...configFlag, ...dataFlag, '--dry-run': 'Only count what would be removed' },
      shape: { columns: ['kind', 'days', 'count', 'bytes'] },
      notes: ['It can run while the service runs.'],
      examples: ['regen serve prune --dry-run', 'regen serve prune --yes --config /etc/regen/regen.toml'],
    },
  ];
}

type Service = typeof import('../../service/index.js');
type StoreReport = Awaited<ReturnType<Service['checkServices']>>;

export const run = {
  init: writeExample,
  backup: runOnFolder,
  restore: runOnFolder,
  check: runOnFolder,
  copy: runOnFolder,
  migrate: migrateData,
  prune: pruneData,
};

async function runOnFolder(context: Context): Promise<void> {
  const { command, args, system, output } = context;
  const service = await loadService(context.folders);
  const configuration = await buildConfiguration(context);
  const data = requireDataFolder(configuration);
  const location = { data, configuration, env: system.env };
  const path = resolve(system.cwd, (args.path as string | undefined) ?? '');
  const works: Record<string, () => Promise<StoreReport>> = {
    backup: () => service.backUpStore(location, path),
    restore: () => service.restoreFolder(path, data),
    check: () => service.checkServices(location),
    copy: async () => service.copyFolder(data, await readTarget(context), system.env),
  };
  const word = command.words.at(-1) as string;
  if (word === 'backup') requireBackupPath(path, data);
  if (word === 'restore' && configuration.database !== undefined)
    throw usage(
      'A backup is restored into a data folder, and the configuration names a PostgreSQL database.',
      say`Restore it without --config, into another folder with --data. Then copy that to the database with: ${regen('serve copy')}`,
    );
  if (word === 'backup') await announceStore(context, 'Backing up', configuration);
  if (word === 'check') await announceStore(context, 'Checking', configuration);
  const { problems, ...counts } = await (works[word] as () => Promise<StoreReport>)();
  await output.answer({
    [word === 'backup' ? 'backup' : 'data']: word === 'backup' ? path : data,
    ...counts,
    problems,
  });
  if (word === 'restore' && problems.length === 0) {
    const config = readText(context.flags, 'config');
    await output.note(
      config === undefined
        ? say`Next: name this folder as data in the configuration of the service. Without a configuration, run: ${regen('serve', `--data ${shellWord(data)}`)}`
        : say`Next: ${regen('serve', `--config ${shellWord(config)}`)}`,
    );
  }
  if (problems.length === 0) return;
  throw new Failure(`${formatCount(problems.length, 'problem')} with stored objects.`, {
    code: 'data_damaged',
    details: problems.slice(0, 100).map(({ object, message }) => ({ path: object, message })),
  });
}

/** Names the store that a command is about: without `--config`, it is not that of a service which runs with one. */
async function announceStore(
  { folders, output }: Needs<'folders' | 'output'>,
  verb: string,
  { data, database }: Awaited<ReturnType<typeof buildConfiguration>>,
): Promise<void> {
  const { maskPassword } = await loadService(folders);
  await output.note(`${verb} ${database === undefined ? data : maskPassword(database)}`);
}

/** @throws Failure if a backup at the path would be another kind of archive or a part of what is backed up */
function requireBackupPath(path: string, data: string): void {
  const ending = /\.(?:tar|tgz|t?[gx]z|bz2|zst|7z|rar)$/i.exec(path)?.[0];
  if (ending) throw usage(`A backup is a folder or a .zip archive, not ${ending}.`);
  if (path === data || path.startsWith(join(data, sep)))
    throw usage(
      `${path} is in the data folder.`,
      'Choose a place outside it, so that the backup is not lost with the data.',
    );
}

async function readTarget({ flags, system }: Needs<'flags' | 'system'>) {
  const path = readText(flags, 'to');
  if (path === undefined)
    throw usage('--to is missing; it names the configuration file of the service to copy to.');
  return readConfiguration(resolve(system.cwd, path));
}

async function migrateData(context: Context): Promise<void> {
  const { flags, system, output } = context;
  const configuration = await buildConfiguration(context);
  const service = await loadService(context.folders);
  const check = flags.check === true;
  const options = { env: system.env, check };
  await announceStore(context, check ? 'Checking' : 'Upgrading', configuration);
  const { schema, pending, rolling } = await service.migrateStore(
    requireDataFolder(configuration),
    configuration,
    options,
  );
  if (pending.length === 0) await output.note('Nothing to do.');
  await output.answer(check ? { schema, pending, rolling } : { schema, steps: pending });
  if (!check || pending.length === 0) return;
  throw new Failure(
    `The data has schema ${schema} from an earlier release; ${pending.length} ${pending.length === 1 ? 'step is' : 'steps are'} missing.`,
    {
      code: 'migration_needed',
      hint: rolling
        ? 'Run it without --check while services of the earlier release keep running, then replace them one by one.'
        : 'Make a backup and stop all services of the earlier release, then run it without --check.',
    },
  );
}

async function pruneData(context: Context): Promise<void> {
  const { command, flags, system, output } = context;
  const configuration = await buildConfiguration(context);
  const data = requireDataFolder(configuration);
  const dryRun = flags['dry-run'] === true;
  await confirmDestruction(context, { data });
  const service = await loadService(context.folders);
  const options = { env: system.env, dryRun, now: system.now };
  const pruned = await service.pruneStore(data, configuration, options);
  await output.answer(pruned, command.shape);
  await output.note(
    dryRun ? `Nothing was removed from ${data}.` : `${reportDestruction(command, { data })}.`,
  );
}

async function writeExample({ args, system, output, folders }: Context): Promise<void> {
  const path = resolve(system.cwd, (args.path as string | undefined) ?? 'regen.toml');
  if (!path.endsWith('.toml'))
    throw usage(`The settings are written as TOML; choose a name that ends in .toml, not ${basename(path)}.`);
  const { writeConfigurationFile } = await loadService(folders);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, writeConfigurationFile(), { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw error;
    throw new Failure(`${path} already exists.`, { code: 'file_exists', exit: exitCodes.conflict });
  }
  await output.line(path);
  await output.note(say`Next: ${regen('serve', `--config ${shellWord(path)}`)}`);
}
