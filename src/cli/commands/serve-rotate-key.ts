import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Invocation } from '../command/invocation.js';
import { rotateKey } from '../connect/local.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { find, folderOf } from './serve-status.js';

/** Gives the service of a folder a new signing key, whether it runs or not. */
export async function run(invocation: Invocation): Promise<void> {
  const folder = folderOf(invocation);
  const service = await find(invocation, folder);
  const connect = (url: string, token?: string) => invocation.connect(url, token);
  const kid = service ? await rotateKey(service, connect) : await rotateStored(folder, invocation.system.now);
  await invocation.output.note('Tokens signed before are good until they end, an hour at most.');
  await invocation.output.answer({ kid });
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
