import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DEFAULT_LIMITS } from '../../src/contract/schema/limits.js';
import { inspectArchive } from '../../src/pack/read-archive.js';
import { startService } from '../../src/service/serve.js';
import { type Ran, startRegen } from '../support/cli.js';
import { film } from '../support/filming-engine.js';
import { pixel } from '../support/generation.js';
import { openInBrowser } from '../support/open-in-browser.js';
import { Faults } from './faults.js';
import { type KilledWorld, openKilledWorld } from './killed-world.js';
import { findDisorder } from './webhook-order.js';

export interface KillOptions {
  /** How often the service is killed, and how often the command line. */
  readonly kills: number;
  readonly seed: number;
  /** Receives a line after each job. */
  readonly report?: (line: string) => void;
}

/** What was asked for, which the command line reported as done. */
interface Done {
  readonly prompts: Map<string, 'image' | 'video'>;
  readonly versions: Map<string, string>;
  /** Files that must hold these bytes. */
  readonly files: Map<string, Buffer>;
  signIns: number;
}

interface Worker {
  readonly world: KilledWorld;
  readonly done: Done;
  /** The folder with its HOME. */
  readonly home: string;
  /** Runs a command line until it ends with exit code 0, killed at any time until there were enough kills. */
  run(argv: readonly string[], more?: { env?: Record<string, string>; cwd?: string }): Promise<Ran>;
}

/** How often a command is run until it succeeds. */
const MAX_RUNS = 60;
/** How often a command is killed at most before it is left to end. */
const MAX_KILLS = 6;
/** How long a command is expected to take until one ended. Milliseconds. */
const FIRST_COMMAND_MS = 3_000;
const WORKERS = 2;

/**
 * Lets command lines publish, generate, run batches and sign in while they and the service are killed, then compares
 * what is left with what they reported.
 * @returns what happened, in one line
 * @throws Error with all violations
 */
export async function runKills({ kills, seed, report = () => {} }: KillOptions): Promise<string> {
  const faults = new Faults(seed);
  const world = await openKilledWorld(faults, kills);
  const done: Done = { prompts: new Map(), versions: new Map(), files: new Map(), signIns: 0 };
  let [cliKills, runs, number] = [0, 0, 0];
  // As long as the last one of the same kind, so that any moment of a command may be its last.
  const lastMs = new Map<string | undefined, number>();
  try {
    const work = async (_: unknown, at: number) => {
      const home = join(world.folder, `home-${at}`);
      mkdirSync(home);
      const run: Worker['run'] = async (argv, { env = world.env, cwd = home } = {}) => {
        for (let attempt = 1, wasKilled = false; ; attempt += 1) {
          runs += 1;
          const { child, ended, said } = startRegen(argv, { env, home, cwd });
          const visiting = argv.includes('login') ? visitSignIn(said, ended) : undefined;
          const begun = performance.now();
          const delayMs = faults.draw(`command ${at}`) * (lastMs.get(argv[1]) ?? FIRST_COMMAND_MS);
          const isDoomed = attempt <= MAX_KILLS && cliKills < kills && faults.draw(`doom ${at}`) < 0.85;
          const killing = isDoomed ? setTimeout(() => child.kill('SIGKILL'), delayMs) : undefined;
          const ran = await ended;
          clearTimeout(killing);
          await visiting;
          // Killed between recording the end of its task and its own end, it was done.
          if (ran.exit === 2 && wasKilled && /already exists/.test(ran.stderr)) return ran;
          wasKilled ||= ran.exit === 137;
          if (ran.exit === 137) cliKills += 1;
          if (ran.exit === 0) {
            lastMs.set(argv[1], performance.now() - begun);
            return ran;
          }
          if (attempt >= MAX_RUNS)
            throw new Error(`regen ${argv.join(' ')} does not end: ${ran.exit} ${ran.stderr}`);
          // Usage is never the answer to a command that was right before.
          if (ran.exit === 1 || ran.exit === 2)
            throw new Error(`regen ${argv.join(' ')}: ${ran.exit} ${ran.stderr}`);
        }
      };
      const worker: Worker = { world, done, home, run };
      while (cliKills < kills || world.kills() < kills || number < JOBS.length) {
        number += 1;
        const job = JOBS[number % JOBS.length] as (typeof JOBS)[number];
        await job(worker, number);
        report(`${job.name} ${number}: ${cliKills} and ${world.kills()} kills`);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    await world.endService();
    const violations = await findViolations(world, done);
    if (violations.length > 0) throw new Error(violations.join('\n'));
    const { prompts, versions, signIns } = done;
    return (
      `${world.kills()} kills of the service, ${cliKills} of the command line in ${runs} runs; ` +
      `${prompts.size} tasks, ${versions.size} versions, ${signIns} sign-ins, ${world.received.length} webhooks`
    );
  } finally {
    await world.close();
  }
}

/** Opens the address that a sign-in shows. */
async function visitSignIn(said: () => string, ended: Promise<Ran>): Promise<void> {
  let isOver = false;
  ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const [url] = /http:\S+\/auth\?\S+/.exec(said()) ?? [];
    // Who was killed does not listen any more.
    if (url) return void (await openInBrowser(url).catch(() => {}));
    await pause(10);
  }
}

const JOBS = [publishPack, relightPhoto, generateVideo, runBatch, signIn] as const;

async function publishPack({ run, done, home, world }: Worker, number: number): Promise<void> {
  const folder = join(home, `pack-${number}`);
  mkdirSync(folder);
  const code = `VERSION = ${number}\nNODE_CLASS_MAPPINGS = {}\n`;
  const manifest = `[project]\nname = "pack"\nversion = "1.${number}.0"\n[tool.hostui]\nPublisherId = "acme"\n`;
  writeFileSync(join(folder, 'pyproject.toml'), manifest);
  writeFileSync(join(folder, '__init__.py'), code);
  await run(['version', 'publish', folder, '--skip-existing'], { env: world.env });
  done.versions.set(`1.${number}.0`, code);
}

async function relightPhoto({ run, done, home, world }: Worker, number: number): Promise<void> {
  const prompt = `light ${number}`;
  const out = join(home, `${number}.png`);
  writeFileSync(join(home, 'photo.png'), Buffer.from(pixel, 'base64'));
  await run(['image', 'relight', 'photo.png', '--prompt', prompt, '--webhook-url', world.hook, '-o', out]);
  done.prompts.set(prompt, 'image');
  done.files.set(out, Buffer.from(pixel, 'base64'));
}

async function generateVideo({ run, done, home, world }: Worker, number: number): Promise<void> {
  const prompt = `boat ${number}`;
  const out = join(home, `${number}.mp4`);
  await run(['video', 'text2video', prompt, '--callback-url', world.hook, '-o', out]);
  done.prompts.set(prompt, 'video');
  done.files.set(out, film);
}

async function runBatch({ run, done, home, world }: Worker, number: number): Promise<void> {
  const cwd = join(home, `batch-${number}`);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'photo.png'), Buffer.from(pixel, 'base64'));
  const prompts = [1, 2, 3].map((line) => `line ${line} of ${number}`);
  const lines = prompts.map((prompt) => ({
    command: 'image relight',
    image: 'photo.png',
    prompt,
    'webhook-url': world.hook,
    output: '{line}.png',
  }));
  writeFileSync(join(cwd, 'jobs.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await run(['batch', 'jobs.jsonl', '--ndjson'], { cwd, env: world.env });
  for (const [at, prompt] of prompts.entries()) {
    done.prompts.set(prompt, 'image');
    done.files.set(join(cwd, `${at + 1}.png`), Buffer.from(pixel, 'base64'));
  }
}

async function signIn({ run, done, world, home }: Worker): Promise<void> {
  const env = { REGEN_BASE_URL: world.url, BROWSER: 'true' };
  await run(['auth', 'login'], { env });
  const { stdout } = await run(['auth', 'status', '--json'], { env });
  if (JSON.parse(stdout).email !== 'ann@example.org') throw new Error(`Signed in, then: ${stdout}`);
  await run(['auth', 'logout'], { env });
  const folder = join(home, '.config', 'regen', 'credentials');
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.json'))) {
    const text = readFileSync(join(folder, name), 'utf8');
    if (/token/.test(text)) throw new Error(`After a sign-out ${name} still has a token.`);
  }
  done.signIns += 1;
}

async function findViolations(world: KilledWorld, done: Done): Promise<string[]> {
  const wrong: string[] = [];
  const expect = (what: string, found: unknown, wanted: unknown) => {
    const [left, right] = [found, wanted].map((value) => JSON.stringify(value));
    if (left !== right) wrong.push(`${what}: ${left}, not ${right}`);
  };
  const service = await startService(world.configuration, { log: () => {} });
  const { database, storage, queue } = service.context;
  try {
    while (await queue.hasWorkBy(Date.now() + 60_000)) await pause(50);
    const tasks = await database.selectFrom('tasks').select(['id', 'request', 'status']).execute();
    expect(
      'prompts of tasks',
      tasks.map(({ request }) => JSON.parse(request).prompt).sort(),
      [...done.prompts.keys()].sort(),
    );
    const vendors = await world.vendor.context.database.selectFrom('tasks').select('id').execute();
    expect('tasks of the vendor', vendors.length, done.prompts.size);
    for (const { id, request, status } of tasks) {
      const kind = done.prompts.get(JSON.parse(request).prompt) ?? 'image';
      expect(`task ${id}`, status, kind === 'image' ? 'COMPLETED' : 'success');
      const credits = await database.selectFrom('credits').select('kind').where('task_id', '=', id).execute();
      expect(`credits of ${id}`, credits, [{ kind: 'charge' }]);
      const disorder = findDisorder(world.received, { id, kind, status });
      if (disorder) wrong.push(disorder);
    }
    const versions = await database
      .selectFrom('versions')
      .select(['id', 'version', 'status', 'archive_key'])
      .execute();
    expect('versions', versions.map(({ version }) => version).sort(), [...done.versions.keys()].sort());
    for (const { version, status, archive_key } of versions) {
      expect(`version ${version}`, status, 'NodeVersionStatusActive');
      const { path } = await storage.borrow(archive_key as string);
      let code = '';
      const reader = {
        wanted: (name: string) => name === '__init__.py',
        read: (_: string, content: Buffer) => {
          code = content.toString();
        },
      };
      await inspectArchive(path, DEFAULT_LIMITS, reader);
      expect(`code of ${version}`, code, done.versions.get(version));
    }
  } finally {
    await service.stop();
  }
  for (const [path, bytes] of done.files) expect(path, readFileSync(path).equals(bytes), true);
  const parts = readdirSync(world.folder, { recursive: true, encoding: 'utf8' });
  expect(
    'parts left',
    parts.filter((path) => /home-.*\.part$/.test(path)),
    [],
  );
  return wrong;
}
