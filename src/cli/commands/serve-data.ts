import { resolve } from 'node:path';
import { readText } from '../command/command.js';
import { readConfiguration } from '../connect/service-configuration.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import type { CommandContext } from './context.js';
import { buildConfiguration, toConfigurationFailure } from './serve.js';

type Service = typeof import('../../service/index.js');
type StoreReport = Awaited<ReturnType<Service['checkServices']>>;

/** `serve backup`, `serve restore`, `serve check` and `serve copy`. */
export async function run(context: CommandContext): Promise<void> {
  const { command, args, system, output } = context;
  const service = await import('../../service/index.js');
  const configuration = await buildConfiguration(context);
  const data = configuration.data as string;
  const location = { data, configuration, env: system.env };
  const path = resolve(system.cwd, (args.path as string | undefined) ?? '');
  const works: Record<string, () => Promise<StoreReport>> = {
    backup: () => service.backUpStore(location, path),
    restore: () => service.restoreFolder(path, data),
    check: () => service.checkServices(location),
    copy: async () => service.copyFolder(data, await readTarget(context), system.env),
  };
  const word = command.words.at(-1) as string;
  const report = await (works[word] as () => Promise<StoreReport>)().catch((error) => {
    throw explainDataError(service, error);
  });
  const { problems, ...counts } = report;
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

export function explainDataError(
  { BackupRefused, DataUnusable, FolderInUse, InvalidConfiguration }: Service,
  error: unknown,
): unknown {
  if (error instanceof BackupRefused)
    return new Failure(error.message, { code: 'file_exists', exit: exitCodes.conflict });
  if (error instanceof DataUnusable) return new Failure(error.message, { code: 'data_unusable' });
  if (error instanceof FolderInUse) return new Failure(error.message, { code: 'folder_in_use' });
  if (error instanceof InvalidConfiguration) return toConfigurationFailure(error.problems);
  return error;
}
