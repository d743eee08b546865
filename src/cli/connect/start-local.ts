import { spawn } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  type FSWatcher,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  watch,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseJson } from '../../contract/json.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import type { Connect } from './clients.js';
import type { Folders } from './folders.js';
import { drainLocal, findLocal, type LocalService } from './local.js';

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
        logStart(system, start, service);
        return { service, started: true };
      } finally {
        lock.release();
      }
    }
    if (system.now() > deadline) throw toStartFailure(start);
    await pause(POLL_MS, undefined, { signal });
  }
}

/** The log of the service of a data folder, when it runs in the background. */
export function findServiceLog({ data, serviceLog }: Folders, folder: string): string {
  return folder === data ? serviceLog : join(folder, 'service.log');
}

/** Notes a start in the log, where errors alone would not say which run they are of. */
function logStart(
  { now }: System,
  { logFile, folder }: ServiceStart,
  { url, pid, version }: LocalService,
): void {
  const at = new Date(now()).toISOString();
  const line = { at, level: 'info', message: 'Started in the background.', url, pid, version, data: folder };
  appendFileSync(logFile, `${JSON.stringify(line)}\n`);
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
  readExitCode(): number | undefined;
  readFailure(): { readonly code?: string; readonly message?: string; readonly hint?: string } | undefined;
}

function spawnService(system: System, start: ServiceStart): Child {
  mkdirSync(dirname(start.logFile), { recursive: true, mode: 0o700 });
  const log = openSync(start.logFile, 'a', 0o600);
  const [node, entry] = system.executable;
  const { size } = fstatSync(log);
  const child = spawn(node, [entry, 'serve', '--json', '--data', start.folder, ...start.flags], {
    detached: true,
    stdio: ['ignore', 'ignore', log],
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
