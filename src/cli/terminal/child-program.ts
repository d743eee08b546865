import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Failure } from './failure.js';
import type { Interruption } from './interrupted.js';
import { findProgram } from './programs.js';
import type { System } from './system.js';

/** A program that gets a credential while it runs, in place of those of this command. */
interface ChildProgram {
  readonly system: System;
  readonly interruption: Interruption;
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Writes the file of the credential, if there is one. @returns the variables that name the service and the credential */
  prepare(): Readonly<Record<string, string>>;
  /** Whether stdout is for the result of this command, so that the program prints to stderr. */
  readonly keepsStdout?: boolean;
}

// The exit codes of a shell for a program that it cannot find, and for one that it cannot run.
const EXIT_NOT_FOUND = 127;
const EXIT_NOT_RUNNABLE = 126;
const FORWARDED_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/**
 * Runs a program in this terminal, as a shell would.
 * @param cleanUp runs however the program ends; signals do not interrupt it
 * @returns its exit code; after a signal, 128 plus the number of the signal
 * @throws Failure if it does not start
 */
export async function runChildProgram(
  { system, interruption, command, prepare, keepsStdout = false }: ChildProgram,
  cleanUp: () => Promise<void>,
): Promise<number> {
  const [program = '', ...words] = command;
  let child: ChildProcess | undefined;
  // Listens first: without a listener, a signal that comes as the child starts would end this process alone.
  const stop = system.onSignal((signal) => forwardSignal(system, child, signal), FORWARDED_SIGNALS);
  try {
    interruption.signal.throwIfAborted();
    interruption.ignore();
    // Windows would look in the current folder first, as no other system does.
    const isName = system.platform === 'win32' && !/[/\\]/.test(program);
    const file = isName ? findProgram(program, system) : program;
    if (file === undefined) throw toNotStartedFailure(program, { code: 'ENOENT' });
    const started = spawn(file, words, {
      cwd: system.cwd,
      env: { ...withoutCredentials(system.env), ...prepare() },
      stdio: ['inherit', keepsStdout ? 2 : 'inherit', 'inherit'],
    });
    child = started;
    return await new Promise<number>((done, fail) => {
      started.once('error', (error) => fail(toNotStartedFailure(program, error)));
      started.once('exit', (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    });
  } finally {
    await cleanUp();
    stop();
  }
}

// Decided: the child gets a credential of its own, but none with which it could do more: neither tokens and secrets of
// regen, nor settings of a service, nor the identity of a CI job, which is exchanged for a token.
const CREDENTIALS = /^(REGEN_(SERVE_|\w*(TOKEN|SECRET|KEY|PASSWORD))|ACTIONS_ID_TOKEN_)/i;

export function withoutCredentials(env: System['env']): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !CREDENTIALS.test(name)));
}

/** Forwards a signal, unless it was typed on a terminal, which sends it to the child itself. */
function forwardSignal(
  { stdin, stderr }: System,
  child: ChildProcess | undefined,
  signal: NodeJS.Signals,
): void {
  const typed = signal === 'SIGINT' || signal === 'SIGQUIT';
  if (typed && (stdin.isTTY || stderr.isTTY)) return;
  child?.kill(signal);
}

function toNotStartedFailure(
  program: string,
  error: Pick<NodeJS.ErrnoException, 'code'> & { readonly message?: string },
): Failure {
  const isMissing = error.code === 'ENOENT';
  const why = isMissing ? 'command not found' : error.message;
  return new Failure(`Could not start '${program}': ${why}.`, {
    code: 'not_started',
    exit: isMissing ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE,
  });
}
