import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { hasCode } from '../../contract/has-code.js';
import { isRecord, parseJson } from '../../contract/json.js';
import { regen, say } from '../../contract/schema/message.js';
import { MAX_GIVEN_BYTES, openFolderFile, readFolderFile } from '../../disk/folder-file.js';
import { readBody } from '../../wire/read-body.js';
import { confirmDestruction } from '../command/confirm.js';
import type { Needs } from '../connect/context.js';
import { drainLocal, findLocal, type LocalService, OWNER_PATH, rotateSecret } from '../connect/local.js';
import { findServiceLog, tryLock } from '../connect/start-local.js';
import { Failure } from '../terminal/failure.js';
import { stripControls } from '../terminal/text.js';
import { Text, Texts } from '../views/answers.js';
import { configFlag, dataFlag } from '../views/flags.js';
import type { View } from '../views/view.js';
import { buildConfiguration, loadService, requireDataFolder } from './serve.js';

type Context = Needs<'command' | 'flags' | 'system' | 'output' | 'signal' | 'folders' | 'connect' | 'mayAsk'>;

export const view = (): View[] => [
  {
    usage: 'serve status',
    local: true,
    summary:
      'Show the running service, whether its uplink answers, and the disk space that its data takes; exits 7 if there is none',
    flags: { ...dataFlag, ...configFlag },
    answer: z.object({
      url: Text,
      socket: Text,
      pid: z.int(),
      version: Text,
      instance: Text,
      data: Text,
      database: Text.optional(),
      storage: Text.optional(),
      previews: Texts.optional(),
      engines: z.record(Text, Text).optional(),
      vendor_trouble: Texts.optional(),
      uplink: z.object({ url: Text, status: Text }).optional(),
      database_bytes: z.int().optional(),
      archive_bytes: z.int().optional(),
      task_bytes: z.int().optional(),
      free_bytes: z.int(),
    }),
  },
  {
    usage: 'serve stop',
    local: true,
    summary: 'Stop the running service once it has finished its current work',
    flags: { ...dataFlag, ...configFlag },
  },
  {
    usage: 'serve rotate-key',
    local: true,
    summary: 'Sign new tokens with a new key, whether or not the service is running',
    flags: { ...dataFlag, ...configFlag },
    answer: z.object({ kid: Text }),
  },
  {
    usage: 'serve rotate-token',
    local: true,
    destroys: {
      action: 'Replace the owner token of {data}',
      loss: 'Programs that send the old token are refused at once.',
    },
    summary: 'Replace the token of the embedded owner, whether or not the service is running',
    flags: { ...dataFlag, ...configFlag },
  },
  {
    usage: 'serve logs',
    local: true,
    summary: 'Print the log of a service that was started in the background',
    flags: { ...dataFlag, ...configFlag },
    answer: z.array(z.record(Text, z.unknown())),
  },
];

export const run = {
  status: showService,
  stop: stopService,
  'rotate-key': rotateKey,
  'rotate-token': rotateToken,
  logs: printLog,
};

async function showService(context: Context): Promise<void> {
  const folder = await readDataFolder(context);
  const service = await findService(context, folder);
  if (!service) {
    const { config, data } = context.flags;
    const isBare = config === undefined && data === undefined;
    const other = isBare ? 'If it runs with a configuration, pass that with --config. ' : '';
    throw new Failure(`No service is running for the data folder ${folder}.`, {
      code: 'not_running',
      hint: say`${other}Start one with: ${regen('serve', '--detach')}`,
    });
  }
  const { owner: _, client: __, ...facts } = service;
  const { measureFolder } = await loadService(context.folders);
  const { status, body } = await service.client.raw({ path: `${OWNER_PATH}/uplink`, signal: context.signal });
  const uplink = parseJson((await readBody(body, 64 * 1024)).toString());
  await context.output.answer({
    ...{ ...facts, data: folder },
    // Absent in answers of older releases.
    ...(status === 200 && isRecord(uplink) && uplink.url !== undefined && { uplink }),
    ...(await measureFolder(folder, facts)),
  });
}

/** The data folder that `serve` would use with the same flags and variables. Other settings do not matter. */
async function readDataFolder(context: Context): Promise<string> {
  const { system } = context;
  const { REGEN_SERVE_DATA, REGEN_SERVE_DATA_FILE } = system.env;
  const env = { REGEN_SERVE_DATA, REGEN_SERVE_DATA_FILE };
  return requireDataFolder(await buildConfiguration({ ...context, system: { ...system, env } }));
}

/** Finds the service of a data folder. If it lost its record, waits until the service writes it again. */
async function findService(
  context: Needs<'signal' | 'connect'>,
  folder: string,
): Promise<LocalService | undefined> {
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
  const lock = await tryLock(path);
  lock?.release();
  return lock === undefined;
}

async function stopService(context: Context): Promise<void> {
  const folder = await readDataFolder(context);
  const service = await findService(context, folder);
  if (!service) return context.output.note(`No service is running for the data folder ${folder}.`);
  await drainLocal(folder, service, context.signal);
  await context.output.note(`Stopped the service of ${folder} at ${service.url}.`);
}

async function rotateKey(context: Context): Promise<void> {
  const folder = await readDataFolder(context);
  const service = await findService(context, folder);
  const { kid } = service
    ? await rotateSecret(service, 'key')
    : await rotateStopped(context, folder, async ({ rotateKeyIn }) => ({
        kid: await rotateKeyIn(folder, context.system.now),
      }));
  await context.output.note(
    `Replaced the signing key of ${folder}.`,
    'Tokens signed with the old key stay valid until they expire, for an hour at most. Statements are signed with a new key, too.',
  );
  await context.output.answer({ kid });
}

/** Replaces a secret of a data folder whose service does not run. */
async function rotateStopped<Result>(
  context: Needs<'folders'>,
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

async function rotateToken(context: Context): Promise<void> {
  const folder = await readDataFolder(context);
  await confirmDestruction(context, { data: folder });
  const service = await findService(context, folder);
  if (service) await rotateSecret(service, 'token');
  else await rotateStopped(context, folder, ({ rotateOwnerTokenIn }) => rotateOwnerTokenIn(folder));
  await context.output.note(`Replaced ${folder}/owner.token. The old token is no longer accepted.`);
}

async function printLog(context: Context): Promise<void> {
  const { folders, output } = context;
  const logFile = findServiceLog(folders, await readDataFolder(context));
  const isThere = existsSync(logFile);
  if (output.mode.json) {
    const lines = isThere
      ? readFolderFile(logFile, MAX_GIVEN_BYTES).toString().split('\n').filter(Boolean)
      : [];
    return output.answer(lines.map(parseEntry));
  }
  if (!isThere) return output.note(`The log is empty. It will be written to ${logFile}.`);
  const stream = createReadStream(logFile, { fd: openFolderFile(logFile).descriptor });
  // A log holds what strangers sent.
  if (output.system.stdout.isTTY)
    for await (const line of createInterface(stream)) await output.line(stripControls(line));
  else for await (const chunk of stream) await output.write(chunk);
}

/** The service logs objects; any other line is a message. */
function parseEntry(line: string): object {
  const value = parseJson(line);
  return isRecord(value) ? value : { message: line };
}
