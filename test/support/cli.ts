import { type ChildProcess, spawn } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { main } from '../../src/cli/main.js';
import { type Keychain, KeychainError } from '../../src/cli/terminal/keychain.js';
import type { Prompts } from '../../src/cli/terminal/prompts.js';
import type { System } from '../../src/cli/terminal/system.js';

export const entry = resolve('bin/regen.js');

/** How a command ended. */
export interface Ran {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  /** Environment variables; this process's own are not passed on. */
  readonly env?: Record<string, string>;
  readonly home?: string;
  readonly cwd?: string;
  /** What is piped in. */
  readonly stdin?: string | Readable;
  /** Answers to prompts, in order; given these, the command is interactive. */
  readonly answers?: readonly (string | boolean)[];
  /** Both streams are terminals. */
  readonly terminal?: boolean;
  /** The operating system's keychain; none if absent. */
  readonly keychain?: Keychain;
  readonly clock?: Pick<System, 'now' | 'sleep'>;
  /** Interrupts the command. */
  readonly signals?: EventEmitter;
  /** Called with all of stderr so far, whenever some arrives. */
  readonly onSaid?: (text: string) => void;
  /** How wide the terminal is. */
  readonly columns?: number;
}

/** Runs a command line inside this process against the real service that its environment names. */
export async function regen(argv: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  const stdout = new Capture();
  const stderr = new Capture();
  const {
    env = {},
    home = homeForTest(),
    cwd = process.cwd(),
    stdin = '',
    answers,
    terminal,
    columns,
    keychain,
    clock,
    signals,
    onSaid,
  } = surroundings;
  stderr.received = onSaid;
  const tty = answers !== undefined || terminal === true;
  const system: System = {
    stdin: Object.assign(typeof stdin === 'string' ? Readable.from(stdin === '' ? [] : [stdin]) : stdin, {
      isTTY: tty,
    }),
    stdout: Object.assign(stdout, { isTTY: terminal === true, ...(columns && { columns }) }),
    stderr: Object.assign(stderr, { isTTY: tty, ...(columns && { columns }) }),
    env: { REGEN_NO_AUTOSTART: '1', TERM: 'dumb', ...env },
    cwd,
    home,
    platform: process.platform,
    executable: [process.execPath, entry],
    nodeVersion: process.versions.node,
    // One that has ended, as each command has when the next one runs.
    identity: { host: hostname(), pid: process.pid, started: `run-${runs++}`, seen: Date.now() },
    now: clock?.now ?? Date.now,
    sleep: clock?.sleep ?? ((ms, signal) => pause(ms, undefined, { signal }).catch(() => {})),
    keychain: keychain ?? noKeychain,
    prompts: createPrompts(answers ?? []),
    onSignal(handler, names = ['SIGINT', 'SIGTERM']) {
      for (const name of names) signals?.on(name, handler);
      return () => void names.map((name) => signals?.off(name, handler));
    },
    exit: (code) => {
      throw new Error(`exit ${code}`);
    },
  };
  const exit = await main(argv, system);
  return { exit, stdout: stdout.text, stderr: stderr.text };
}

const noKeychain: Keychain = async () => {
  throw new KeychainError('there is none');
};

let runs = 0;

class Capture extends Writable {
  text = '';
  received: ((text: string) => void) | undefined;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    this.received?.(this.text);
    done();
  }
}

function createPrompts(answers: readonly (string | boolean)[]): Prompts {
  const left = [...answers];
  const next = async () => {
    if (left.length === 0) throw new Error('The test has no answer to this question.');
    return left.shift();
  };
  return {
    password: async () => String(await next()),
    confirm: async () => (await next()) === true,
    input: async (_message, _initial, findProblem = () => undefined) => {
      for (;;) {
        const answer = String(await next());
        if (findProblem(answer.trim()) === undefined) return answer;
      }
    },
    select: async (message, choices) => {
      const answer = String(await next());
      if (!choices.includes(answer)) throw new Error(`${message} does not offer ${answer}.`);
      return answer;
    },
  };
}

/** An empty HOME, removed at the end of the test. */
export function homeForTest(): string {
  const home = mkdtempSync(join(tmpdir(), 'regen-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  return home;
}

/** The built program in a process of its own. */
export interface Started {
  readonly child: ChildProcess;
  /** What came on stderr so far. */
  said(): string;
  readonly ended: Promise<Ran>;
}

/** Starts the built program in a process of its own, with nothing of this process's environment but PATH. */
export function startRegen(argv: readonly string[], surroundings: Surroundings = {}): Started {
  const { env = {}, home = homeForTest(), cwd = process.cwd(), stdin = '' } = surroundings;
  const child = spawn(process.execPath, [entry, ...argv], {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, ...env },
  });
  let out = '';
  let said = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  child.stdin.on('error', () => {});
  if (typeof stdin === 'string') child.stdin.end(stdin);
  else stdin.pipe(child.stdin);
  const ended = new Promise<Ran>((done) => {
    child.once('close', (code, signal) =>
      done({ exit: code ?? (signal === 'SIGKILL' ? 137 : 1), stdout: out, stderr: said }),
    );
  });
  return { child, said: () => said, ended };
}

/** Ends the embedded service of a HOME; for every test whose commands may have started one. */
export async function stopEmbedded(home: string): Promise<void> {
  await startRegen(['serve', 'stop'], { home }).ended;
}

/** A HOME whose embedded service is stopped at the end of the test. */
export function homeWithService(): string {
  const home = homeForTest();
  onTestFinished(() => stopEmbedded(home));
  return home;
}
