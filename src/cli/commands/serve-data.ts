import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { regen, say } from '../../contract/schema/message.js';
import { readText } from '../command/command.js';
import { confirmDestruction, reportDestruction } from '../command/confirm.js';
import type { CommandContext } from '../connect/context.js';
import { readConfiguration } from '../connect/service-configuration.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';
import { buildConfiguration, loadService, requireDataFolder } from './serve.js';

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

async function runOnFolder(context: CommandContext): Promise<void> {
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
  const { problems, ...counts } = await (works[word] as () => Promise<StoreReport>)();
  await output.answer({
    [word === 'backup' ? 'backup' : 'data']: word === 'backup' ? path : data,
    ...counts,
    problems,
  });
  if (problems.length === 0) return;
  throw new Failure(`${problems.length} objects are missing, damaged or unknown.`, {
    code: 'data_damaged',
    details: problems.slice(0, 100).map(({ object, message }) => ({ path: object, message })),
  });
}

async function readTarget({ flags, system }: CommandContext) {
  const path = readText(flags, 'to');
  if (path === undefined)
    throw usage('--to is missing; it names the configuration file of the service to copy to.');
  return readConfiguration(resolve(system.cwd, path));
}

async function migrateData(context: CommandContext): Promise<void> {
  const { flags, system, output } = context;
  const configuration = await buildConfiguration(context);
  const service = await loadService(context.folders);
  const check = flags.check === true;
  const options = { env: system.env, check };
  const { schema, pending, rolling } = await service.migrateStore(
    requireDataFolder(configuration),
    configuration,
    options,
  );
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

async function pruneData(context: CommandContext): Promise<void> {
  const { command, flags, system, output } = context;
  const configuration = await buildConfiguration(context);
  const data = requireDataFolder(configuration);
  const dryRun = flags['dry-run'] === true;
  await confirmDestruction(context, { data });
  const service = await loadService(context.folders);
  const options = { env: system.env, dryRun, now: system.now };
  const pruned = await service.pruneStore(data, configuration, options);
  await output.answer(pruned, command.shape);
  await output.note(dryRun ? 'Nothing was removed.' : `${reportDestruction(command, { data })}.`);
}

async function writeExample({ args, system, output, folders }: CommandContext): Promise<void> {
  const path = resolve(system.cwd, (args.path as string | undefined) ?? 'regen.toml');
  const { writeConfigurationFile } = await loadService(folders);
  try {
    writeFileSync(path, writeConfigurationFile(), { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw error;
    throw new Failure(`${path} already exists.`, { code: 'file_exists', exit: exitCodes.conflict });
  }
  await output.line(path);
  await output.note(say`Next: ${regen('serve', `--config ${shellWord(path)}`)}`);
}
