import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Invocation } from '../command/invocation.js';
import { findLocal, type LocalService } from '../connect/local.js';
import { exitCodes, Failure } from '../terminal/failure.js';

/** Shows the service that works on a folder. */
export async function run(invocation: Invocation): Promise<void> {
  const folder = folderOf(invocation);
  const service = await find(invocation, folder);
  if (!service) {
    throw new Failure(`No service runs on ${folder}.`, {
      code: 'not_running',
      exit: exitCodes.unreachable,
      hint: 'Start one with: regen serve --detach',
    });
  }
  const { ownerToken: _, ...facts } = service;
  await invocation.output.answer({ ...facts, data: folder });
}

export function folderOf(invocation: Invocation): string {
  const data = invocation.text('data');
  return data ? resolve(invocation.system.cwd, data) : invocation.folders.data;
}

/** The service of a folder. One that holds the folder and cannot be found has lost its record, and writes it again. */
export async function find(invocation: Invocation, folder: string): Promise<LocalService | undefined> {
  const look = () => findLocal(folder, (url, token) => invocation.connect(url, token));
  for (let tries = 0; tries < 20; tries++) {
    const found = await look();
    if (found || !(await isHeld(folder))) return found;
    await pause(250, undefined, { signal: invocation.signal });
  }
  return undefined;
}

async function isHeld(folder: string): Promise<boolean> {
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
