import { resolve } from 'node:path';
import { exitCodes, Failure } from '../failure.js';
import type { Invocation } from '../invocation.js';
import { findLocal, type LocalService } from '../local.js';

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

export function find(invocation: Invocation, folder: string): Promise<LocalService | undefined> {
  return findLocal(folder, (url, token) => invocation.connect(url, token));
}
