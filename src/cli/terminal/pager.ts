import { spawn } from 'node:child_process';
import type { System } from './system.js';

/** Shows text in the user's pager. Returns false if there is none. */
export async function showInPager(system: Pick<System, 'env' | 'cwd'>, text: string): Promise<boolean> {
  // An empty variable turns paging off.
  const pager = system.env.REGEN_PAGER ?? system.env.PAGER ?? 'less';
  if (!pager || pager === 'cat') return false;
  // As git does: colours are passed through, and short text does not stay in the pager.
  const env = { LESS: 'FRX', LV: '-c', ...system.env } as NodeJS.ProcessEnv;
  const child = spawn(pager, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env, cwd: system.cwd });
  // The pager may be closed before it has read everything.
  child.stdin.on('error', () => {}).end(text);
  const code = await new Promise<number | null>((done) => {
    child.once('error', () => done(COMMAND_NOT_FOUND));
    child.once('close', (exit) => done(exit));
  });
  return code !== COMMAND_NOT_FOUND;
}

/** The exit code of a shell that did not find the command. */
const COMMAND_NOT_FOUND = 127;
