import { fstatSync, readFileSync, type Stats, statSync } from 'node:fs';

let outputs: readonly Stats[] | undefined;

/** Whether the output of this process is redirected to a file, which the shell has created, or that of a script around it. */
export function isOwnOutput({ dev, ino }: Stats): boolean {
  outputs ??= [...[1, 2].map((stream) => fstatSync(stream)), ...listOuterOutputs()];
  return outputs.some((output) => output.dev === dev && output.ino === ino);
}

/** Lists the outputs of the processes that run this one, where the system tells them: Linux does. */
function listOuterOutputs(): Stats[] {
  const found: Stats[] = [];
  for (let pid = process.ppid; pid > 1; ) {
    try {
      found.push(...[1, 2].map((stream) => statSync(`/proc/${pid}/fd/${stream}`)));
      // The name of a program, before its parent, may have spaces and parentheses.
      pid = Number(/^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
    } catch {
      // Another system, or a process of another user.
      break;
    }
  }
  return found;
}
