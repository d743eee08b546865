import { spawn } from 'node:child_process';
import { findProgram, removeSecrets, splitCommand } from './programs.js';
import type { System } from './system.js';

type PagerSystem = Pick<System, 'env' | 'cwd' | 'platform'>;

/**
 * Chooses the user's pager. No shell parses it: that of Windows would start what the current folder has.
 * @returns the program and its arguments; nothing if there is none
 */
export function choosePager({ env, platform }: PagerSystem, find = findProgram): readonly string[] {
  // An empty variable turns paging off.
  const [name = '', ...words] = splitCommand(env.REGEN_PAGER ?? env.PAGER ?? 'less');
  const program = name === '' || name === 'cat' ? undefined : find(name, { env, platform });
  return program === undefined ? [] : [program, ...words];
}

/** Shows text in the user's pager. Returns false if there is none. */
export async function showInPager(system: PagerSystem, text: string): Promise<boolean> {
  const [program, ...words] = choosePager(system);
  if (program === undefined) return false;
  // As git does: colours are passed through, and short text does not stay in the pager.
  const env = { LESS: 'FRX', LV: '-c', ...removeSecrets(system.env) };
  const child = spawn(program, words, { stdio: ['pipe', 'inherit', 'inherit'], env, cwd: system.cwd });
  // The pager may be closed before it has read everything.
  child.stdin.on('error', () => {}).end(text);
  return new Promise<boolean>((done) => {
    child.once('error', () => done(false));
    child.once('close', () => done(true));
  });
}
