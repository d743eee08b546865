import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readText } from '../command/command.js';
import { findLocal, type LocalService } from '../connect/local.js';
import { Failure } from '../terminal/failure.js';
import type { CommandContext } from './context.js';

/** Shows the service that uses a data folder. */
export async function run(context: CommandContext): Promise<void> {
  const folder = readDataFolder(context);
  const service = await findService(context, folder);
  if (!service) {
    throw new Failure(`No service runs on ${folder}.`, {
      code: 'not_running',
      hint: 'Start one with: regen serve --detach',
    });
  }
  const { owner: _, client: __, ...facts } = service;
  const { measureFolder } = await import('../../service/index.js');
  await context.output.answer({ ...facts, data: folder, ...(await measureFolder(folder)) });
}

export function readDataFolder(context: CommandContext): string {
  const data = readText(context.flags, 'data');
  return data ? resolve(context.system.cwd, data) : context.folders.data;
}

/** Finds the service of a data folder. If it lost its record, waits until the service writes it again. */
export async function findService(
  context: CommandContext,
  folder: string,
): Promise<LocalService | undefined> {
  const look = () => findLocal(folder, context.connect);
  for (let tries = 0; tries < 20; tries++) {
    const found = await look();
    if (found || !(await isLocked(folder))) return found;
    await pause(250, undefined, { signal: context.signal });
  }
  return undefined;
}

async function isLocked(folder: string): Promise<boolean> {
  const path = join(folder, 'service.lock');
  if (!existsSync(path)) return false;
  const { LockTimeout, takeLock } = await import('../../disk/lock.js');
  try {
    takeLock(path, 0).release();
    return false;
  } catch (error) {
    if (error instanceof LockTimeout) return true;
    throw error;
  }
}
