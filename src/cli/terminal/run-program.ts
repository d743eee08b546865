import { spawn } from 'node:child_process';
import type { System } from './system.js';

interface ProgramRun {
  /** A path with `words`, otherwise a shell command line. */
  readonly command: string;
  readonly words?: readonly string[];
  readonly input: string | Uint8Array;
  /** Beside the environment. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

// Decided: a program that the user chose with --exec has the whole environment, credentials too, because it usually runs
// regen again. What comes from a service is on its standard input and in variables only, never in the command line. Its
// output goes to stderr, because stdout is for events.
/** Runs a program until it ends. @returns 0 if it succeeded, else its exit code or what ended it */
export async function runWithInput(
  { env, cwd, stderr }: Pick<System, 'env' | 'cwd' | 'stderr'>,
  { command, words, input, variables, signal }: ProgramRun,
): Promise<number | string> {
  const options = { cwd, env: { ...env, ...variables }, stdio: 'pipe', signal } as const;
  const child = words ? spawn(command, words, options) : spawn(command, { ...options, shell: true });
  for (const from of [child.stdout, child.stderr]) from.on('data', (chunk) => void stderr.write(chunk));
  // A program may ignore its standard input.
  child.stdin.on('error', () => {}).end(input);
  const code = await new Promise<number | string>((ended) => {
    child.once('error', (error) => ended(error.message));
    child.once('close', (exit, killed) => ended(exit ?? killed ?? 'unknown'));
  });
  signal.throwIfAborted();
  return code;
}
