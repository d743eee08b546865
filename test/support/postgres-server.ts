import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { findFreePort } from './listen.js';

const DEBIAN = '/usr/lib/postgresql';

/** A PostgreSQL server of its own, in a temporary folder, on loopback. */
export interface PostgresServer {
  /** Of an empty database. */
  readonly url: string;
  start(): Promise<void>;
  /** Ends it at once, as a machine that loses its power would. */
  kill(): Promise<void>;
  /** Ends it and removes its folder. */
  remove(): Promise<void>;
}

/**
 * @param mayBeGiven whether a server at TEST_DATABASE_URL is enough
 * @returns why there is no server for tests on this machine; undefined if there is one
 */
export function explainMissingPostgres(mayBeGiven = true): string | undefined {
  if (findPrograms() !== undefined || (mayBeGiven && process.env.TEST_DATABASE_URL !== undefined))
    return undefined;
  return `PostgreSQL is neither at TEST_DATABASE_URL nor in ${DEBIAN}`;
}

export async function createPostgresServer(): Promise<PostgresServer> {
  const programs = findPrograms() as string;
  const folder = mkdtempSync(join(tmpdir(), 'regen-postgres-'));
  const user = chooseUser();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder, stdio: 'ignore' } as const;
  const init = ['-D', data, '-U', 'regen', '-A', 'trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(programs, 'initdb'), init, options);
  const port = await findFreePort();
  const url = `postgres://regen@127.0.0.1:${port}/postgres`;
  // Nothing here has to survive a loss of power.
  const settings = ['fsync=off', 'full_page_writes=off', 'max_connections=300'];
  const place = ['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${folder}`];
  const args = ['-D', data, ...[...place, ...settings].flatMap((setting) => ['-c', setting])];
  let server: ChildProcess | undefined;

  const end = async (signal: 'SIGINT' | 'SIGQUIT') => {
    if (!server || server.exitCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  const start = async () => {
    server = spawn(join(programs, 'postgres'), args, options);
    while (!(await isAnswering(url))) {
      if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}.`);
      await pause(50);
    }
  };
  const remove = async () => {
    await end('SIGINT');
    rmSync(folder, { recursive: true, force: true });
  };
  await start();
  return { url, start, kill: () => end('SIGQUIT'), remove };
}

/** The folder of the newest installed server. */
function findPrograms(): string | undefined {
  try {
    const [newest] = readdirSync(DEBIAN).sort((one, other) => Number(other) - Number(one));
    return newest && join(DEBIAN, newest, 'bin');
  } catch {
    return undefined;
  }
}

/** PostgreSQL refuses to run as root. */
function chooseUser(): { uid: number; gid: number } | { uid?: undefined; gid?: undefined } {
  if (process.getuid?.() !== 0) return {};
  const read = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: read('-u'), gid: read('-g') };
}

async function isAnswering(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
