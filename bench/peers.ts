import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sample } from './measure.js';

const PEERS = { autocannon: '8.0.0', verdaccio: '6.8.0', fastify: '5' };

/**
 * Installs the packages that the service is measured with, in the folder of temporary files.
 * @returns resolves a module of them; undefined if they cannot be installed
 */
export function installPeers(): NodeJS.Require | undefined {
  const folder = join(tmpdir(), 'regen-bench-peers');
  if (!existsSync(join(folder, 'node_modules/verdaccio'))) {
    mkdirSync(folder, { recursive: true });
    const overrides = { 'node-fetch': '2.7.0' };
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: PEERS, overrides }));
    try {
      execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
    } catch {
      return undefined;
    }
  }
  return createRequire(join(folder, 'package.json'));
}

export const PEERS_MISSING = { missing: 'npm cannot install the packages to compare with' };

/** Requests answered in a second with 10 connections, by autocannon. */
export async function measureRate(
  peers: NodeJS.Require,
  url: string,
  requests: readonly object[],
): Promise<Sample> {
  const autocannon = peers('autocannon');
  const {
    requests: answered,
    non2xx,
    errors,
  } = await autocannon({ url, connections: 10, duration: 3, requests });
  if (non2xx + errors > 0) throw new Error(`${non2xx + errors} requests to ${url} failed`);
  return { perSecond: answered.average };
}

export interface Program {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
}

const running = new Set<Program>();

/** Starts a program of Node that prints its URL on its first line. */
export async function startProgram(argv: readonly string[]): Promise<Program> {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'ignore'] });
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`${argv.join(' ').slice(0, 80)} ended with ${code}`);
  });
  failed.catch(() => {});
  const [first] = (await Promise.race([once(child.stdout, 'data'), failed])) as [Buffer];
  const program: Program = {
    pid: child.pid as number,
    url: first.toString().split('\n')[0] as string,
    async stop() {
      await end(child);
      running.delete(program);
    },
  };
  running.add(program);
  return program;
}

/** Engines for images that do nothing: one returns its input, the other does not end. */
const ENGINES = {
  copying: `async run({ images, folder }) {
    await copyFile(images.image, folder + '/copy.png');
    return { files: [{ path: folder + '/copy.png', contentType: 'image/png' }] };
  }`,
  stalled: `run: (job, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))`,
};

export interface BuiltService extends Program {
  /** The bearer token of the owner. */
  readonly token: string;
}

/** Starts the built service on a data folder. It has no quotas. */
export async function startBuiltService(data: string, engine?: keyof typeof ENGINES): Promise<BuiltService> {
  const image = engine ? `{ name: 'bench', atOnce: 4, ${ENGINES[engine]} }` : 'undefined';
  const program = `import { copyFile } from 'node:fs/promises';
    import { startService } from ${JSON.stringify(new URL('../dist/service.js', import.meta.url))};
    const image = ${image};
    const service = await startService({ data: ${JSON.stringify(data)}, port: 0, graceMs: 0 }, image && { engines: { image } });
    process.once('SIGTERM', () => service.stop().then(() => process.exit()));
    console.log(service.url);`;
  const started = await startProgram(['--input-type=module', '-e', program]);
  return { ...started, token: readFileSync(join(data, 'owner.token'), 'utf8').trim() };
}

/** Starts verdaccio, which lets anyone publish. */
export function startVerdaccio(peers: NodeJS.Require, scratch: string): Promise<Program> {
  const program = `const { runServer } = require(${JSON.stringify(peers.resolve('verdaccio'))});
    runServer({ storage: ${JSON.stringify(join(scratch, 'verdaccio'))}, uplinks: {}, self_path: ${JSON.stringify(scratch)},
      packages: { '**': { access: '$all', publish: '$all' } }, log: { type: 'stdout', level: 'fatal' } })
      .then((app) => app.listen(0, '127.0.0.1', function () { console.log('http://127.0.0.1:' + this.address().port); }));`;
  return startProgram(['-e', program]);
}

export async function stopAll(...programs: readonly Program[]): Promise<void> {
  for (const program of programs) await program.stop();
}

/** Stops what a case started and left: programs, and the embedded service of its folder. */
export async function stopLeft(scratch: string): Promise<void> {
  await stopAll(...running);
  if (existsSync(join(scratch, '.local'))) runRegen(['serve', 'stop'], isolate(scratch));
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  const killing = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await ended;
  clearTimeout(killing);
}

/** Variables that keep a command away from the data and settings of this user. */
export function isolate(scratch: string): NodeJS.ProcessEnv {
  const { PATH, LANG } = process.env;
  return { PATH, LANG, HOME: scratch };
}

export const REGEN = [process.execPath, join(import.meta.dirname, '../bin/regen.js')] as const;

/** Runs a command of regen to its end. */
export function runRegen(args: readonly string[], env: NodeJS.ProcessEnv): string {
  const [node, entry] = REGEN;
  return execFileSync(node, [entry, ...args], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
