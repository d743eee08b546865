import { readdirSync, readFileSync } from 'node:fs';

/** The processes that this one, or another, started and that run with `word` among their arguments, as Linux lists them. */
export function listChildProcesses(word: string, parent: number | 'self' = 'self'): number[] {
  const children = readdirSync(`/proc/${parent}/task`).flatMap((thread) =>
    readFileSync(`/proc/${parent}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return children.filter((pid) => readCommand(pid).includes(word)).map(Number);
}

function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has ended since it was listed.
    return '';
  }
}
