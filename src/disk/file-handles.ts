import { closeSync, openSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';

/** @returns how many files this process may have open at once, if the system says so without a native part */
export function readHandleLimit(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return found === undefined ? undefined : Number(found);
  } catch {
    return undefined;
  }
}

/** More than loading a package needs at one time. */
const NEEDED_HANDLES = 16;

/**
 * Makes sure that a package can be loaded: Node.js takes one whose files it could not open for missing until it ends.
 * @throws the system's error without enough file handles
 */
export function requireFreeHandles(): void {
  const handles: number[] = [];
  try {
    while (handles.length < NEEDED_HANDLES) handles.push(openSync(devNull, 'r'));
  } finally {
    for (const handle of handles) closeSync(handle);
  }
}
