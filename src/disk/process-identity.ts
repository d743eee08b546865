import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';

/** Distinguishes a process from all others that ever ran, as far as the system allows. */
export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /** When it started, in a unit of the system; absent if the system does not say. */
  readonly started?: string;
  /** When it was last known to run, in milliseconds since the epoch. */
  readonly seen: number;
}

export function getOwnIdentity(): ProcessIdentity {
  const started = readStart(process.pid);
  return { host: hostname(), pid: process.pid, ...(started && { started }), seen: Date.now() };
}

/** Whether a process has certainly ended. A process on another host counts as running. */
export function hasEndedProcess({ host, pid, started, seen }: ProcessIdentity): boolean {
  if (host !== hostname()) return false;
  if (started !== undefined) return readStart(pid) !== started;
  // Before the machine started, allowing for an inaccurate clock.
  if (seen < Date.now() - uptime() * 1000 - 60_000) return true;
  return hasEnded(pid);
}

/** Whether no process has this id. */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** On Linux, boot, pid namespace and clock tick of the start of a process; undefined if it has ended. */
export function readStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain anything; the fields after it begin with the state.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie: it has ended, but its parent has not waited for it.
    if (state === 'Z' || state === 'X') return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')} ${fields[18]}`;
  } catch {
    return undefined;
  }
}
