import { readFileSync } from 'node:fs';

/** @returns how many files this process may have open at once, if the system says so without a native part */
export function readHandleLimit(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return found === undefined ? undefined : Number(found);
  } catch {
    return undefined;
  }
}
