import { spawn } from 'node:child_process';
import {
  closeSync,
  type FSWatcher,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  watch,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../client/client.js';
import type { CallOptions } from '../../client/client-options.js';
import { ClientError, NetworkError } from '../../client/errors.js';
import { isRecord, parseJson } from '../../contract/json.js';
import { regen, say } from '../../contract/schema/message.js';
import { readPrivateFile } from '../../disk/private-file.js';
import { BodyTooLong, readBody } from '../../wire/read-body.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import type { Connect } from './clients.js';
import { type Credential, fixedCredential } from './credentials.js';

/** What a service records in its folder while it runs. */
interface LocalRecord {
  readonly url: string;
  /** The socket or named pipe for all requests, because another program could take over its port. */
  readonly socket: string;
  readonly pid: number;
  readonly version: string;
  readonly instance: string;
  /** The kinds of tasks that it only previews; absent in records of older releases. */
  readonly previews?: readonly string[];
  /** Where its data is, if not in the folder. */
  readonly database?: string;
  readonly storage?: string;
}

type Limits = Pick<CallOptions, 'timeoutMs' | 'signal'>;

/** A running service with its data in a folder of this machine. */
export interface LocalService extends LocalRecord {
  /** The credential of the owner of the folder. */
  readonly owner: Credential;
  /** A client with this credential, and with the connection that the service was found with. */
  readonly client: Client;
  /** The vendors that refuse its account or key, with the reason. */
  readonly vendor_trouble?: readonly string[];
}

/**
 * Finds the running service of a data folder, from `service.json` and a check over the socket in the folder. Only the
 * owner of the folder can listen on that socket.
 * @param limits how long it may stay silent (default: as long as any service), and what stops waiting
 * @throws Failure if it runs and does not answer
 */
export async function findLocal(
  folder: string,
  connect: Connect,
  limits: Limits = {},
): Promise<LocalService | undefined> {
  const recorded = readPrivateFile(join(folder, 'service.json'));
  const ownerToken = readPrivateFile(join(folder, 'owner.token'))?.trim();
  const record = recorded && parseRecord(recorded);
  if (!record || !ownerToken || !isOwnSocket(record.socket, folder)) return undefined;
  const owner = fixedCredential(ownerToken, 'the embedded service');
  const running = await connectToRunning(record, owner, connect, limits);
  return running && { ...record, owner, ...running };
}

/** Sockets of other users are not trusted, for example in a folder that others can write to. */
function isOwnSocket(path: string, folder: string): boolean {
  if (process.platform === 'win32') return true;
  const socket = lstatSync(path, { throwIfNoEntry: false });
  return socket?.isSocket() === true && socket.uid === statSync(folder).uid;
}

/** Reads the address that the service of a folder recorded, without verifying it: only for display. */
export function readRecordedUrl(folder: string): string | undefined {
  const recorded = readPrivateFile(join(folder, 'service.json'));
  return recorded ? parseRecord(recorded)?.url : undefined;
}

function parseRecord(text: string): LocalRecord | undefined {
  try {
    const { url, socket, pid, version, instance, previews, database, storage } = JSON.parse(text);
    const isComplete =
      [url, socket, version, instance].every((value) => typeof value === 'string') && Number.isInteger(pid);
    if (!isComplete) return undefined;
    return {
      ...{ url, socket, pid, version, instance },
      ...(Array.isArray(previews) && { previews: previews.map(String) }),
      ...(typeof database === 'string' && { database }),
      ...(typeof storage === 'string' && { storage }),
    };
  } catch {
    return undefined;
  }
}

/** Connects to a service if it is the one that wrote the record. */
async function connectToRunning(
  { url, socket, pid, instance }: LocalRecord,
  owner: Credential,
  connect: Connect,
  limits: Limits,
): Promise<Pick<LocalService, 'client' | 'vendor_trouble'> | undefined> {
  try {
    const client = await connect(url, owner, { socketPath: socket });
    const { status, body } = await client.raw({ path: OWNER_PATH, retries: 0, ...limits });
    const answer = parseJson((await readBody(body, MAX_ANSWER_BYTES)).toString());
    // undici offers the connection to the next request in the next turn of the event loop.
    await new Promise(setImmediate);
    if (status !== 200 || !isRecord(answer) || answer.instance !== instance) return undefined;
    // Releases before did not report it.
    const vendors = Array.isArray(answer.vendors) ? answer.vendors.filter(isRecord) : [];
    const vendor_trouble = vendors.map(
      ({ vendor, reason, since }) => `${vendor}: ${reason} (since ${since})`,
    );
    return { client, ...(vendor_trouble.length > 0 && { vendor_trouble }) };
  } catch (error) {
    if (error instanceof NetworkError && error.code === 'timeout') {
      throw new Failure(`The embedded service (process ${pid}) is running but does not answer.`, {
        code: 'timeout',
        hint: 'It may be paused or busy. Try again; if it stays silent, end it.',
      });
    }
    // Nothing or something else is listening, so the service is not running.
    if (error instanceof ClientError || error instanceof BodyTooLong) return undefined;
    throw error;
  }
}

const MAX_ANSWER_BYTES = 64 * 1024;

const OWNER_PATH = '/.well-known/regen-owner';

/** How to start a service in the background. */
export interface ServiceStart {
  readonly folder: string;
  readonly logFile: string;
  readonly version: string;
  /** Flags of `regen serve`, except the folder. */
  readonly flags: readonly string[];
  /** Names of environment variables that its configuration needs. */
  readonly env?: readonly string[];
  /** The port, if it must be exactly this one. */
  readonly fixedPort?: number;
}

/** How long a start may take, even with a slow disk or a busy machine. */
const START_TIMEOUT_MS = 30_000;
const POLL_MS = 30;

/**
 * Finds the service of a folder or starts one in the background, and waits until it is ready. If many commands do this
 * at once, only one starts it. A service of another version is drained and replaced.
 * @throws Failure if it does not start
 */
export async function ensureLocal(
  system: System,
  start: ServiceStart,
  connect: Connect,
  signal: AbortSignal,
): Promise<{ service: LocalService; started: boolean }> {
  const deadline = system.now() + START_TIMEOUT_MS;
  for (;;) {
    const running = await findLocal(start.folder, connect, { signal });
    if (running?.version === start.version) return { service: running, started: false };
    // Only one process may start it; the others keep polling.
    const lock = await tryLock(join(start.folder, 'start.lock'));
    if (lock) {
      try {
        // Another command may have started or replaced it before the lock was taken.
        const current = await findLocal(start.folder, connect, { signal });
        if (current?.version === start.version) return { service: current, started: false };
        if (current) await drainLocal(start.folder, current, signal);
        const child = spawnService(system, start);
        // While it starts, and not when it is ready.
        await import('../../wire/undici.js');
        const service = await waitUntilReady(start, child, connect, deadline, system.now, signal);
        return { service, started: true };
      } finally {
        lock.release();
      }
    }
    if (system.now() > deadline) throw toStartFailure(start);
    await pause(POLL_MS, undefined, { signal });
  }
}

/** Takes a lock; undefined if another process has it. */
export async function tryLock(path: string): Promise<{ release(): void } | undefined> {
  const { LockTimeout, takeLock } = await import('../../disk/lock.js');
  try {
    return takeLock(path, 0);
  } catch (error) {
    if (error instanceof LockTimeout) return undefined;
    throw error;
  }
}

async function waitUntilReady(
  start: ServiceStart,
  child: Child,
  connect: Connect,
  deadline: number,
  now: () => number,
  signal: AbortSignal,
): Promise<LocalService> {
  for (;;) {
    const running = await findLocal(start.folder, connect, { signal });
    if (running?.version === start.version) return running;
    const ended = child.readExitCode();
    // If the folder is in use, the service that uses it has not recorded its address yet.
    const failed = ended !== undefined && ended !== exitCodes.conflict;
    if (failed || now() > deadline) throw toStartFailure(start, child);
    await changeOrPause(start.folder, signal);
  }
}

/** Ends when a service records its address in a folder, or after a pause on systems that do not tell. */
async function changeOrPause(folder: string, signal: AbortSignal): Promise<void> {
  const ending = new AbortController();
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(folder, (_, name) => name === 'service.json' && ending.abort());
    watcher.once('error', () => {});
  } catch {
    // The number of watched folders is limited.
  }
  await pause(POLL_MS, undefined, { signal: AbortSignal.any([signal, ending.signal]) }).catch(() => {});
  watcher?.close();
  signal.throwIfAborted();
}

/** The failure that a service logged, or else that it did not start. */
function toStartFailure(start: ServiceStart, child?: Child): Failure {
  const { code, message, hint } = child?.readFailure() ?? {};
  if (code === 'port_taken' && start.fixedPort !== undefined) {
    return new Failure(`The embedded service cannot use port ${start.fixedPort}: it is already in use.`, {
      code: 'local_service_unavailable',
      hint: 'Set REGEN_LOCAL_PORT to another port, or unset it to use a free one.',
    });
  }
  if (code !== undefined && message !== undefined)
    return new Failure(message, { code, ...(hint && { hint }) });
  const isSlow = child?.readExitCode() === undefined;
  return new Failure(`The service did not start${isSlow ? ' in time' : ''}.`, {
    code: 'local_service_unavailable',
    hint: `See its log: ${start.logFile}`,
  });
}

interface Child {
  /** Returns its exit code once it has exited. */
  readExitCode(): number | undefined;
  /** Reads the failure that it logged. */
  readFailure(): { readonly code?: string; readonly message?: string; readonly hint?: string } | undefined;
}

function spawnService(system: System, start: ServiceStart): Child {
  mkdirSync(dirname(start.logFile), { recursive: true, mode: 0o700 });
  const log = openSync(start.logFile, 'a', 0o600);
  const [node, entry] = system.executable;
  const { size } = fstatSync(log);
  const child = spawn(node, [entry, 'serve', '--json', '--data', start.folder, ...start.flags], {
    detached: true,
    stdio: ['ignore', log, log],
    env: scrubEnvironment(system, start.env),
    cwd: system.home,
    windowsHide: true,
  });
  closeSync(log);
  let exitCode: number | undefined;
  child.once('exit', (code) => {
    exitCode = code ?? exitCodes.unexpected;
  });
  child.once('error', () => {
    exitCode = exitCodes.unexpected;
  });
  child.unref();
  const readFailure = () =>
    readFileSync(start.logFile)
      .subarray(size)
      .toString()
      .split('\n')
      .map((line) => (parseJson(line) as { error?: object } | undefined)?.error)
      .findLast((error) => error !== undefined);
  return { readExitCode: () => exitCode, readFailure };
}

/**
 * The environment variables that any service needs. Others, especially secrets, are not passed on, except those that its
 * configuration names.
 */
const PASSED_VARIABLES =
  /^(PATH|HOME|USERPROFILE|TMPDIR|TEMP|TMP|TZ|LANG|LC_\w+|XDG_\w+|SYSTEMROOT|NODE_EXTRA_CA_CERTS)$/i;
/** Those that are paths, which the service would take from another folder. */
const PATH_VARIABLES =
  /^(HOME|TMPDIR|TEMP|TMP|NODE_EXTRA_CA_CERTS|PGPASSFILE|PGSERVICEFILE|PGSSL(ROOTCERT|CERT|KEY|CRL))$/i;

function scrubEnvironment({ env, cwd }: System, wanted: readonly string[] = []): NodeJS.ProcessEnv {
  const passed = Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || !(PASSED_VARIABLES.test(name) || wanted.includes(name))) return [];
    return [[name, value && PATH_VARIABLES.test(name) ? resolve(cwd, value) : value]];
  });
  return Object.fromEntries(passed);
}

/**
 * Tells a running service to replace a secret.
 * @returns its response
 */
export async function rotateSecret(
  service: LocalService,
  secret: 'key' | 'token',
): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await service.client.raw({
    method: 'POST',
    path: `${OWNER_PATH}/rotate-${secret}`,
    retries: 0,
  });
  const text = (await readBody(body, 4096)).toString();
  if (status === 200 || status === 204) return text === '' ? {} : JSON.parse(text);
  throw new Failure(
    `The service at ${service.url} did not replace the ${secret}: it responded with status ${status}.`,
    {
      code: 'local_service_unavailable',
      hint: say`It is version ${service.version}. Stop it with: ${regen('serve stop')}, then try again.`,
    },
  );
}

/** Asks a service to finish its work and stop, and waits until it has released its folder. */
export async function drainLocal(folder: string, service: LocalService, signal: AbortSignal): Promise<void> {
  await service.client.raw({ method: 'POST', path: `${OWNER_PATH}/stop`, retries: 0, signal });
  for (let tries = 0; tries < 600; tries++) {
    const recorded = readPrivateFile(join(folder, 'service.json'));
    if (!recorded || parseRecord(recorded)?.instance !== service.instance) return;
    await pause(50, undefined, { signal });
  }
  throw new Failure(`The service at ${service.url} (process ${service.pid}) did not stop.`, {
    code: 'local_service_unavailable',
    hint: 'It may still be busy. Try again later.',
  });
}
