import type { TaskOperation } from '../../../contract/index.js';
import { getTaskFacts } from '../../../contract/index.js';
import type { Engine } from '../../operation/engine.js';
import { awaitResult } from './await-result.js';
import type { UpstreamOptions, UpstreamTask } from './retry.js';
import { startVendorTask } from './start.js';

/** How often waiting reports progress. */
const PROGRESS_INTERVAL_MS = 5 * 60_000;

/**
 * Creates the engine that runs tasks at a vendor with the same contract: it starts each task once, waits for
 * it across failures and restarts, and downloads its files.
 */
export function createUpstreamEngine<Task extends TaskOperation>(options: UpstreamOptions): Engine<Task> {
  return {
    name: 'upstream',
    atOnce: options.settings.atOnce,
    resumes: true,
    run: async (job, signal, progress, memory) => {
      const listener = options.callbacks.listen(job.id);
      const wait = async (ms: number) => {
        for (let left = ms; left > 0; left -= PROGRESS_INTERVAL_MS) {
          progress(0);
          if (await listener.wait(Math.min(left, PROGRESS_INTERVAL_MS), signal)) return;
        }
      };
      const { kind } = getTaskFacts(job.operation);
      const task: UpstreamTask = { ...options, kind, job, memory, signal, wait };
      try {
        return await awaitResult(task, await startVendorTask(task));
      } finally {
        listener.stop();
      }
    },
  };
}
