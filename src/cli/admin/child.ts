import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Failure } from '../terminal/failure.js';
import type { Interruption } from '../terminal/interrupted.js';
import type { System } from '../terminal/system.js';

/** What a shell answers with for a program that it cannot find, and for one that it cannot run. */
const notFound = 127;
const notRunnable = 126;
const forwarded: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/**
 * Runs a program in this terminal, as if this command were not there between.
 * @returns its exit code; of one that was ended by a signal 128 and the signal's number, as in a shell
 * @throws Failure where it does not start
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
  const stop = system.onSignal((signal) => forwardSignal(system, child, signal), forwarded);
  try {
    return await new Promise<number>((done, fail) => {
      child.once('error', (error) => fail(notStarted(program, error)));
      child.once('exit', (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    });
  } finally {
    stop();
  }
}

/** What is typed on a terminal, the terminal sends to the child as well; once is enough. */
function forwardSignal({ stdin, stderr }: System, child: ChildProcess, signal: NodeJS.Signals): void {
  const typed = signal === 'SIGINT' || signal === 'SIGQUIT';
  if (typed && (stdin.isTTY || stderr.isTTY)) return;
  child.kill(signal);
}

function notStarted(program: string, error: NodeJS.ErrnoException): Failure {
  const isMissing = error.code === 'ENOENT';
  const why = isMissing ? 'there is no such command' : error.message;
  return new Failure(`'${program}' did not start: ${why}.`, {
    code: 'not_started',
    exit: isMissing ? notFound : notRunnable,
  });
}
