import type { Engine, TaskOperation } from '../../engine.js';
import { kindOf } from '../../operations.js';
import type { Errand, VendorParts } from './errand.js';
import { startAtVendor } from './start.js';
import { resultOf } from './watch.js';

/** The longest wait without a sign of life. Milliseconds. */
const signEveryMs = 5 * 60_000;

/**
 * Has a vendor of this contract do the work: starts its task once, waits for it over failures and restarts, and brings
 * what it made.
 */
export function upstream<Operation extends TaskOperation>(parts: VendorParts): Engine<Operation> {
  return {
    name: 'upstream',
    atOnce: parts.settings.atOnce,
    resumes: true,
    run: async (job, signal, progress, memory) => {
      const ear = parts.callbacks.listen(job.id);
      const wait = async (ms: number) => {
        for (let left = ms; left > 0; left -= signEveryMs) {
          progress(0);
          if (await ear.pause(Math.min(left, signEveryMs), signal)) return;
        }
      };
      const errand: Errand = { ...parts, kind: kindOf(job.operation), job, memory, signal, wait };
      try {
        return await resultOf(errand, await startAtVendor(errand));
      } finally {
        ear.end();
      }
    },
  };
}
