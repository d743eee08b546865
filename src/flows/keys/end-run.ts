import { type Ledger, RESUME_MS } from '../tasks/ledger.js';
import { findEnd } from '../tasks/task-state.js';
import type { KeyEntry } from './key-ledger.js';

interface EndedRun {
  /** What identifies the program. */
  readonly key: string;
  /** When it began, in milliseconds since 1970. */
  readonly since: number;
  /** The profile whose account the key is of, if there is one. */
  readonly profile: string | undefined;
  readonly hasFailed: boolean;
}

/**
 * Ends the run of a program with an API key: its tasks are those of the account that the key was of. If it failed, the next
 * run goes on with those that its commands have reported, too, because it begins with the first of them.
 */
export async function endRun(ledger: Ledger, { key, since, profile, hasFailed }: EndedRun): Promise<void> {
  for (const entry of ledger.entries()) {
    if (Date.parse(entry.created_at) < since - RESUME_MS) return;
    // Also what an earlier run started, and this one went on with.
    if ((entry as KeyEntry).key !== key || !entry.owner || entry.owner.seen < since) continue;
    const isOpen = hasFailed && findEnd(entry.state) !== 'badly';
    await ledger.change(entry.id, {
      ...(profile !== undefined && { profile }),
      ...(isOpen && { closed: undefined }),
    });
  }
}
