import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Failure } from '../terminal/failure.js';
import type { Interruption } from '../terminal/interrupted.js';
import type { System } from '../terminal/system.js';

// The exit codes of a shell for a program that it cannot find, and for one that it cannot run.
const EXIT_NOT_FOUND = 127;
const EXIT_NOT_RUNNABLE = 126;
const FORWARDED_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/**
 * Runs a program in this terminal, as a shell would.
 * @returns its exit code; after a signal, 128 plus the number of the signal
 * @throws Failure if it does not start
 */
export async function runChild(
  { system, interruption }: { readonly system: System; readonly interruption: Interruption },
  program: string,
  words: readonly string[],
  env: Record<string, string | undefined>,
): Promise<number> {
  interruption.signal.throwIfAborted();
  interruption.ignore();
  const child = spawn(program, words, { cwd: system.cwd, env, stdio: 'inherit' });
  const stop = system.onSignal((signal) => forwardSignal(system, child, signal), FORWARDED_SIGNALS);
  try {
    return await new Promise<number>((done, fail) => {
      child.once('error', (error) => fail(toNotStartedFailure(program, error)));
      child.once('exit', (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    });
  } finally {
    stop();
  }
}

/** Forwards a signal, unless it was typed on a terminal, which sends it to the child itself. */
function forwardSignal({ stdin, stderr }: System, child: ChildProcess, signal: NodeJS.Signals): void {
  const typed = signal === 'SIGINT' || signal === 'SIGQUIT';
  if (typed && (stdin.isTTY || stderr.isTTY)) return;
  child.kill(signal);
}

function toNotStartedFailure(program: string, error: NodeJS.ErrnoException): Failure {
  const isMissing = error.code === 'ENOENT';
  const why = isMissing ? 'command not found' : error.message;
  return new Failure(`Could not start '${program}': ${why}.`, {
    code: 'not_started',
    exit: isMissing ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE,
  });
}
