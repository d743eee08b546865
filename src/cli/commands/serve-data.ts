import { resolve } from 'node:path';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { CommandContext } from './context.js';
import { readDataFolder } from './serve-status.js';

type Service = typeof import('../../service/index.js');
type StoreReport = Awaited<ReturnType<Service['checkFolder']>>;

/** `serve backup`, `serve restore` and `serve check`. */
export async function run(context: CommandContext): Promise<void> {
  const { command, args, system, output } = context;
  const service = await import('../../service/index.js');
  const data = readDataFolder(context);
  const path = resolve(system.cwd, (args.path as string | undefined) ?? '');
  const works: Record<string, () => Promise<StoreReport>> = {
    backup: () => service.backUpFolder(data, path),
    restore: () => service.restoreFolder(path, data),
    check: () => service.checkFolder(data),
  };
  const word = command.words.at(-1) as string;
  const report = await (works[word] as () => Promise<StoreReport>)().catch((error) => {
    throw explainError(service, error);
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
    exit: exitCodes.endedBadly,
    details: problems.slice(0, 100).map(({ object, message }) => ({ path: object, message })),
  });
}

function explainError({ BackupRefused, DataUnusable }: Service, error: unknown): unknown {
  if (error instanceof BackupRefused)
    return new Failure(error.message, { code: 'file_exists', exit: exitCodes.conflict });
  if (error instanceof DataUnusable)
    return new Failure(error.message, { code: 'data_unusable', exit: exitCodes.usage });
  return error;
}
