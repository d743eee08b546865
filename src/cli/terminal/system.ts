import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { getOwnIdentity, type ProcessIdentity } from '../../disk/process-identity.js';
import type { Failure } from './failure.js';
import type { Environment, Keychain } from './keychain.js';
import type { Prompts } from './prompts.js';
import { createSafePrompts } from './safe-prompts.js';
import { isPlain, isUnicode } from './text.js';

/** Everything that the command line uses outside its own process; tests can replace it. */
export interface System {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Environment;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** How to start regen in the background: the path of Node.js and the entry of the program. */
  readonly executable: readonly [node: string, entry: string];
  readonly nodeVersion: string;
  /** Identifies this process, so that work that a dead process left unfinished can be resumed. */
  readonly identity: ProcessIdentity;
  readonly now: () => number;
  /** Resolves early, without an error, if the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly prompts: Prompts;
  readonly keychain: Keychain;
  /** Listens for signals (default: Ctrl-C and termination) until the returned function is called. */
  onSignal(handler: (signal: NodeJS.Signals) => void, signals?: readonly NodeJS.Signals[]): () => void;
  /** Called with each failure that is printed, if a caller in this process has other names for what it mentions. */
  onFailure?(failure: Failure): void;
  /** Exits at once, for the second Ctrl-C. */
  exit(code: number): never;
}

export function createSystem(entry: string): System {
  let stdout: System['stdout'] | undefined;
  let stderr: System['stderr'] | undefined;
  return {
    // Each stream is opened when it is used: opening takes a third of the time of a short command.
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      stdout ??= openStdout();
      return stdout;
    },
    get stderr() {
      stderr ??= openStderr();
      return stderr;
    },
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    platform: process.platform,
    executable: [process.execPath, entry],
    nodeVersion: process.versions.node,
    get identity() {
      return getOwnIdentity();
    },
    now: Date.now,
    async sleep(ms, signal) {
      const { setTimeout: pause } = await import('node:timers/promises');
      await pause(ms, undefined, { signal }).catch(() => {});
    },
    prompts: choosePrompts(process.env),
    async keychain(request) {
      const { createKeychain } = await import('./keychain-process.js');
      return createKeychain(process.execPath, process.env)(request);
    },
    onSignal(handler, signals = ['SIGINT', 'SIGTERM']) {
      for (const signal of signals) process.on(signal, handler);
      return () => {
        for (const signal of signals) process.off(signal, handler);
      };
    },
    exit: (code) => process.exit(code),
  };
}

/** Runs code that sets the exit code of the process, as jq does, and leaves the one from before. */
export function keepExitCode<Result>(run: () => Result): Result {
  const before = process.exitCode;
  try {
    return run();
  } finally {
    process.exitCode = before;
  }
}

function openStdout(): System['stdout'] {
  // Into a file, Node.js ignores that a full disk takes only a part of what is written.
  if ('_type' in process.stdout && process.stdout._type === 'fs') {
    process.stdout._write = (chunk, _, done) => {
      try {
        writeFileSync(process.stdout.fd, chunk);
        done();
      } catch (error) {
        done(error as Error);
      }
    };
  }
  // A closed reader, such as `head`, is not an error.
  return process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`error: Could not write to stdout: ${error.message}.\n`);
    process.exit(1);
  });
}

function openStderr(): System['stderr'] {
  // The work continues when the reader of its messages has closed the pipe.
  return process.stderr.on('error', () => {});
}

/** Chooses prompts that redraw their line, or plain ones. */
function choosePrompts(env: Environment): Prompts {
  return createSafePrompts(async () =>
    isUnicode(env) && !isPlain(env)
      ? (await import('./redrawn-prompts.js')).createRedrawnPrompts(process)
      : (await import('./plain-prompts.js')).createPlainPrompts(process),
  );
}
