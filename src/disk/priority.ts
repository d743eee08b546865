import { constants, getPriority, setPriority } from 'node:os';

/**
 * Lets other processes take precedence over one of this program: 10 steps further than this one.
 * @param pid 0: this process
 */
export function lowerPriority(pid = 0): void {
  try {
    setPriority(pid, Math.min(getPriority() + 10, constants.priority.PRIORITY_LOW));
  } catch {
    // It has ended, or the system does not let it. It does the same work.
  }
}
