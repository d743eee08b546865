import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hasCode } from '../../contract/has-code.js';
import { isRecord, parseJson } from '../../contract/json.js';
import { regen, say } from '../../contract/schema/message.js';
import { MAX_GIVEN_BYTES, openFolderFile, readFolderFile } from '../../disk/folder-file.js';
import { confirmDestruction } from '../command/confirm.js';
import type { CommandContext } from '../connect/context.js';
import { drainLocal, findLocal, type LocalService, rotateSecret } from '../connect/local.js';
import { Failure } from '../terminal/failure.js';
import { buildConfiguration, loadService, requireDataFolder } from './serve.js';

export const run = {
  status: showService,
  stop: stopService,
  'rotate-key': rotateKey,
  'rotate-token': rotateToken,
  logs: printLog,
};

async function showService(context: CommandContext): Promise<void> {
  const folder = await readDataFolder(context);
  const service = await findService(context, folder);
  if (!service) {
    throw new Failure(`No service runs on ${folder}.`, {
      code: 'not_running',
      hint: say`Start one with: ${regen('serve', '--detach')}`,
    });
  }
  const { owner: _, client: __, ...facts } = service;
  const { measureFolder } = await loadService(context.folders);
  await context.output.answer({ ...facts, data: folder, ...(await measureFolder(folder, facts)) });
}

/** The data folder that `serve` would use with the same flags and variables. Other settings do not matter. */
async function readDataFolder(context: CommandContext): Promise<string> {
  const { system } = context;
  const { REGEN_SERVE_DATA, REGEN_SERVE_DATA_FILE } = system.env;
  const env = { REGEN_SERVE_DATA, REGEN_SERVE_DATA_FILE };
  return requireDataFolder(await buildConfiguration({ ...context, system: { ...system, env } }));
}

/** Finds the service of a data folder. If it lost its record, waits until the service writes it again. */
async function findService(context: CommandContext, folder: string): Promise<LocalService | undefined> {
  for (let tries = 0; tries < 20; tries++) {
    const found = await findLocal(folder, context.connect, { signal: context.signal });
    if (found || !(await isLocked(folder))) return found;
    await pause(250, undefined, { signal: context.signal });
  }
  throw startingOrStopping(folder);
}

function startingOrStopping(folder: string): Failure {
  return new Failure(`The service of ${folder} is starting or stopping.`, {
    code: 'folder_in_use',
    hint: 'Try again in a few seconds.',
  });
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

async function stopService(context: CommandContext): Promise<void> {
  const folder = await readDataFolder(context);
  const service = await findService(context, folder);
  if (!service) return context.output.note(`No service runs on ${folder}.`);
  await drainLocal(folder, service, context.signal);
  await context.output.note(`Stopped the service at ${service.url}.`);
}

async function rotateKey(context: CommandContext): Promise<void> {
  const folder = await readDataFolder(context);
  const service = await findService(context, folder);
  const { kid } = service
    ? await rotateSecret(service, 'key')
    : await rotateStopped(context, folder, async ({ rotateKeyIn }) => ({
        kid: await rotateKeyIn(folder, context.system.now),
      }));
  await context.output.note(
    'Tokens signed with the old key stay valid until they expire, for an hour at most.',
  );
  await context.output.answer({ kid });
}

/** Replaces a secret of a data folder whose service does not run. */
async function rotateStopped<Result>(
  context: CommandContext,
  folder: string,
  work: (service: Awaited<ReturnType<typeof loadService>>) => Promise<Result> | Result,
): Promise<Result> {
  if (!existsSync(join(folder, 'regen.db'))) {
    throw new Failure(`${folder} is not the data folder of a service.`, {
      code: 'not_found',
      hint: 'Pass the data folder with --data.',
    });
  }
  const service = await loadService(context.folders);
  try {
    return await work(service);
  } catch (error) {
    if (!hasCode(error, 'folder_in_use')) throw error;
    throw startingOrStopping(folder);
  }
}

async function rotateToken(context: CommandContext): Promise<void> {
  const folder = await readDataFolder(context);
  await confirmDestruction(context, { data: folder });
  const service = await findService(context, folder);
  if (service) await rotateSecret(service, 'token');
  else await rotateStopped(context, folder, ({ rotateOwnerTokenIn }) => rotateOwnerTokenIn(folder));
  await context.output.note(`Replaced ${folder}/owner.token. The old token is no longer accepted.`);
}

async function printLog({ folders, output }: CommandContext): Promise<void> {
  const logFile = folders.serviceLog;
  const isThere = existsSync(logFile);
  if (output.mode.json) {
    const lines = isThere
      ? readFolderFile(logFile, MAX_GIVEN_BYTES).toString().split('\n').filter(Boolean)
      : [];
    return output.answer(lines.map(parseEntry));
  }
  if (!isThere) return output.note(`The log is empty. It will be written to ${logFile}.`);
  const { descriptor } = openFolderFile(logFile);
  for await (const chunk of createReadStream(logFile, { fd: descriptor })) await output.write(chunk);
}

/** The service logs objects; any other line is a message. */
function parseEntry(line: string): object {
  const value = parseJson(line);
  return isRecord(value) ? value : { message: line };
}
