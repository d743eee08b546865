import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { rotateSecret } from '../connect/local.js';
import { Failure } from '../terminal/failure.js';
import type { CommandContext } from './context.js';
import { findService, readDataFolder } from './serve-status.js';

/** Replaces the signing key of a data folder, whether its service runs or not. */
export async function run(context: CommandContext): Promise<void> {
  const folder = readDataFolder(context);
  const service = await findService(context, folder);
  const { kid } = service
    ? await rotateSecret(service, 'key')
    : await rotateStopped(folder, async ({ rotateKeyIn }) => ({
        kid: await rotateKeyIn(folder, context.system.now),
      }));
  await context.output.note(
    'Tokens signed with the old key stay valid until they expire, for an hour at most.',
  );
  await context.output.answer({ kid });
}

/** Replaces a secret of a data folder whose service does not run. */
export async function rotateStopped<Result>(
  folder: string,
  work: (service: typeof import('../../service/index.js')) => Promise<Result> | Result,
): Promise<Result> {
  if (!existsSync(join(folder, 'regen.db'))) {
    throw new Failure(`${folder} is not the data folder of a service.`, {
      code: 'not_found',
      hint: 'Pass the data folder with --data.',
    });
  }
  const service = await import('../../service/index.js');
  try {
    return await work(service);
  } catch (error) {
    if (!(error instanceof service.FolderInUse)) throw error;
    throw new Failure(`The service of ${folder} is starting or stopping.`, {
      code: 'folder_in_use',
      hint: 'Try again in a few seconds.',
    });
  }
}
