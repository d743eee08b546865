import { spawn } from 'node:child_process';
import { closeSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../client/client.js';
import { ClientError } from '../../client/errors.js';
import { readPrivateFile } from '../../disk/private-file.js';
import { BodyTooLong, readBody } from '../../wire/read-body.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import type { Connect } from './clients.js';
import { fixedCredential } from './credential.js';

/** A service that runs on a data folder of this machine. */
export interface LocalService {
  readonly url: string;
  /** The socket or named pipe that all requests to it take: another program could take its port. */
  readonly socket: string;
  readonly pid: number;
  readonly version: string;
  readonly instance: string;
  /** The owner's bearer token. */
  readonly ownerToken: string;
}

/**
 * Finds the service of a data folder, if one runs: what `service.json` says and the socket in the folder confirms.
 * Only the owner of the folder can listen there.
 */
export async function findLocal(folder: string, connect: Connect): Promise<LocalService | undefined> {
  const written = readPrivateFile(join(folder, 'service.json'));
  const ownerToken = readPrivateFile(join(folder, 'owner.token'))?.trim();
  const record = written && parseRecord(written);
  if (!record || !ownerToken || !isOwnSocket(record.socket, folder)) return undefined;
  const service = { ...record, ownerToken };
  return (await isRunning(service, connect)) ? service : undefined;
}

/** Sockets of another user are not trusted, for example in a folder that others may write to. */
function isOwnSocket(path: string, folder: string): boolean {
  if (process.platform === 'win32') return true;
  const socket = lstatSync(path, { throwIfNoEntry: false });
  return socket?.isSocket() === true && socket.uid === statSync(folder).uid;
}

/** Where the service of a folder says it listens, unproved: for showing, never for sending. */
export function recordedUrl(folder: string): string | undefined {
  const written = readPrivateFile(join(folder, 'service.json'));
  return written ? parseRecord(written)?.url : undefined;
}

function parseRecord(text: string): Omit<LocalService, 'ownerToken'> | undefined {
  try {
    const { url, socket, pid, version, instance } = JSON.parse(text);
    const whole =
      [url, socket, version, instance].every((value) => typeof value === 'string') && Number.isInteger(pid);
    return whole ? { url, socket, pid, version, instance } : undefined;
  } catch {
    return undefined;
  }
}

async function isRunning(service: LocalService, connect: Connect): Promise<boolean> {
  try {
    const client = await connectLocal(service, connect);
    const { status, body } = await client.raw({ path: OWNER_PATH, retries: 0, timeoutMs: 5_000 });
    const answer = JSON.parse((await readBody(body, 4096)).toString()) as { instance?: unknown };
    return status === 200 && answer.instance === service.instance;
  } catch (error) {
    // Nothing there, or something else: both mean that the service is not running.
    if (error instanceof ClientError || error instanceof SyntaxError || error instanceof BodyTooLong)
      return false;
    throw error;
  }
}

/** A client with the owner's credential. */
export function connectLocal({ url, socket, ownerToken }: LocalService, connect: Connect): Promise<Client> {
  return connect(url, fixedCredential(ownerToken, 'the embedded service'), socket);
}

const OWNER_PATH = '/.well-known/regen-owner';

/** What a service started in the background is started with. */
export interface Start {
  readonly folder: string;
  readonly logFile: string;
  readonly version: string;
  /** Flags of `regen serve` besides the folder. */
  readonly flags: readonly string[];
  /** Names of environment variables that its configuration wants. */
  readonly env?: readonly string[];
  /** The port it must have, if any other will not do. */
  readonly fixedPort?: number;
}

/** How long a start may take; slow disks and busy machines included. */
const startMs = 30_000;

/**
 * Finds the service of a folder or starts one in the background, and waits until it is ready. Of many commands that
 * do so at once, one starts it; one of another version is drained and replaced.
 * @throws Failure when it does not come up
 */
export async function ensureLocal(
  system: System,
  start: Start,
  connect: Connect,
  signal: AbortSignal,
): Promise<{ service: LocalService; started: boolean }> {
  const { LockTimeout, takeLock } = await import('../../disk/lock.js');
  const deadline = system.now() + startMs;
  let child: Child | undefined;
  for (;;) {
    const running = await findLocal(start.folder, connect);
    if (running?.version === start.version) return { service: running, started: child !== undefined };
    if (!child) {
      try {
        // Only one of many starters may spawn; the others look again.
        const lock = takeLock(join(start.folder, 'start.lock'), 0);
        try {
          if (running) await drainLocal(start.folder, running, connect);
          child = spawnService(system, start);
          return {
            service: await whenReady(start, child, connect, deadline, system.now, signal),
            started: true,
          };
        } finally {
          lock.release();
        }
      } catch (error) {
        if (!(error instanceof LockTimeout)) throw error;
      }
    }
    if (system.now() > deadline) throw notUp(start);
    await pause(50, undefined, { signal });
  }
}

async function whenReady(
  start: Start,
  child: Child,
  connect: Connect,
  deadline: number,
  now: () => number,
  signal: AbortSignal,
): Promise<LocalService> {
  for (;;) {
    const running = await findLocal(start.folder, connect);
    if (running?.version === start.version) return running;
    const ended = child.ended();
    // Where the folder is in use, the one that uses it has yet to say where it listens.
    const failed = ended !== undefined && ended !== exitCodes.conflict;
    if (failed || now() > deadline) throw notUp(start, ended);
    await pause(30, undefined, { signal });
  }
}

function notUp(start: Start, exitCode?: number): Failure {
  const portTaken = start.fixedPort !== undefined && exitCode === exitCodes.unreachable;
  return new Failure(
    portTaken
      ? `The embedded service cannot use port ${start.fixedPort}: something else listens there.`
      : `The embedded service did not start${exitCode === undefined ? ' in time' : ''}.`,
    {
      code: 'local_service_unavailable',
      exit: exitCodes.unreachable,
      hint: portTaken
        ? 'Choose another port with REGEN_LOCAL_PORT, or unset it to take a free one.'
        : `Its log is ${start.logFile}.`,
    },
  );
}

interface Child {
  /** Its exit code once it ended. */
  ended(): number | undefined;
}

function spawnService(system: System, start: Start): Child {
  mkdirSync(dirname(start.logFile), { recursive: true, mode: 0o700 });
  const log = openSync(start.logFile, 'a', 0o600);
  const [node, entry] = system.executable;
  const child = spawn(node, [entry, 'serve', '--data', start.folder, ...start.flags], {
    detached: true,
    stdio: ['ignore', log, log],
    env: scrubEnvironment(system.env, start.env),
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
  return { ended: () => exitCode };
}

/**
 * What any service needs of its starter's environment; everything else but what its configuration names, secrets above
 * all, stays behind.
 */
const kept =
  /^(PATH|HOME|USERPROFILE|TMPDIR|TEMP|TMP|TZ|LANG|LC_\w+|XDG_\w+|SYSTEMROOT|NODE_EXTRA_CA_CERTS)$/i;

function scrubEnvironment(env: System['env'], asked: readonly string[] = []): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => kept.test(name) || asked.includes(name)));
}

/**
 * Has a running service replace a secret.
 * @returns its answer
 */
export async function rotate(
  service: LocalService,
  secret: 'key' | 'token',
  connect: Connect,
): Promise<Readonly<Record<string, unknown>>> {
  const client = await connectLocal(service, connect);
  const { status, body } = await client.raw({
    method: 'POST',
    path: `${OWNER_PATH}/rotate-${secret}`,
    retries: 0,
  });
  const text = (await readBody(body, 4096)).toString();
  if (status === 200 || status === 204) return text === '' ? {} : JSON.parse(text);
  throw new Failure(`The service at ${service.url} did not replace the ${secret}: it answered ${status}.`, {
    code: 'local_service_unavailable',
    exit: exitCodes.unreachable,
    hint: `It is version ${service.version}. Stop it with regen serve stop, and try again.`,
  });
}

/** Asks a service to finish what it does and end, and waits until it gave its folder back. */
export async function drainLocal(folder: string, service: LocalService, connect: Connect): Promise<void> {
  const client = await connectLocal(service, connect);
  await client.raw({ method: 'POST', path: `${OWNER_PATH}/stop`, retries: 0 });
  for (let tries = 0; tries < 600; tries++) {
    const written = readPrivateFile(join(folder, 'service.json'));
    if (!written || parseRecord(written)?.instance !== service.instance) return;
    await pause(50);
  }
  throw new Failure(`The service at ${service.url} (process ${service.pid}) does not end.`, {
    code: 'local_service_unavailable',
    exit: exitCodes.unreachable,
    hint: 'It may still be busy; try again in a while.',
  });
}
