import { homedir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { ownIdentity, type ProcessIdentity } from '../../disk/process-identity.js';
import type { Environment, Keychain } from './keychain.js';

/** Questions to a person; all of them on stderr. */
export interface Prompts {
  password(message: string): Promise<string>;
  confirm(message: string): Promise<boolean>;
  input(message: string, initial?: string): Promise<string>;
}

/** Ctrl-C at a question: the terminal hands it over as a key then, not as a signal. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/** Everything of the outside world that the command line touches, so that a test can stand in for it. */
export interface System {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Environment;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** The program to start again in the background: node's own path, and this program's entry. */
  readonly executable: readonly [node: string, entry: string];
  readonly nodeVersion: string;
  /** Tells this run from every other, so that what a dead one left unfinished can be taken up. */
  readonly identity: ProcessIdentity;
  readonly now: () => number;
  /** Ends sooner, without failing, when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly prompts: Prompts;
  readonly keychain: Keychain;
  /** Hears these signals, Ctrl-C and termination where none are named, until the returned function is called. */
  onSignal(handler: (signal: NodeJS.Signals) => void, signals?: readonly NodeJS.Signals[]): () => void;
  /** Ends the process without waiting: the second Ctrl-C. */
  exit(code: number): never;
}

/** The real one. */
export function realSystem(entry: string): System {
  // A reader that went away, as `head` does, is no failure of ours.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`error: The answer could not be written: ${error.message}.\n`);
    process.exit(1);
  });
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    platform: process.platform,
    executable: [process.execPath, entry],
    nodeVersion: process.versions.node,
    get identity() {
      return ownIdentity();
    },
    now: Date.now,
    sleep: (ms, signal) => pause(ms, undefined, { signal }).catch(() => {}),
    prompts: inquirer,
    async keychain(request) {
      const { keychainApart } = await import('./keychain-process.js');
      return keychainApart(process.execPath, process.env)(request);
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

// inquirer writes to stdout unless told otherwise, and stdout is for answers.
const context = { output: process.stderr, clearPromptOnDone: false };

const inquirer: Prompts = {
  password: (message) => askPerson(({ password }) => password({ message, mask: '*' }, context)),
  confirm: (message) => askPerson(({ confirm }) => confirm({ message, default: false }, context)),
  input: (message, initial) =>
    askPerson(({ input }) => input({ message, ...(initial !== undefined && { default: initial }) }, context)),
};

async function askPerson<Answer>(
  question: (prompts: typeof import('@inquirer/prompts')) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await question(await import('@inquirer/prompts'));
  } catch (error) {
    if ((error as Error).name === 'ExitPromptError') throw new Unanswered();
    throw error;
  }
}
