import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { rotateKey } from '../connect/local.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { CommandContext } from './context.js';
import { findService, readDataFolder } from './serve-status.js';

/** Gives the service of a folder a new signing key, whether it runs or not. */
export async function run(context: CommandContext): Promise<void> {
  const folder = readDataFolder(context);
  const service = await findService(context, folder);
  const kid = service
    ? await rotateKey(service, context.connect)
    : await rotateStored(folder, context.system.now);
  await context.output.note('Tokens signed before are good until they end, an hour at most.');
  await context.output.answer({ kid });
}

async function rotateStored(folder: string, now: () => number): Promise<string> {
  if (!existsSync(join(folder, 'regen.db'))) {
    throw new Failure(`There is no data of a service in ${folder}.`, {
      code: 'not_found',
      exit: exitCodes.notFound,
      hint: 'Name the folder with --data.',
    });
  }
  const { FolderInUse, rotateKeyIn } = await import('../../service/index.js');
  try {
    return await rotateKeyIn(folder, now);
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
    throw new Failure(`The service of ${folder} is just starting or stopping.`, {
      code: 'folder_in_use',
      exit: exitCodes.conflict,
      hint: 'Try again in a moment.',
    });
  }
}
