import type { TaskOperation } from '../../../contract/index.js';
import { getTaskFacts } from '../../../contract/index.js';
import { type Engine, EngineFailure } from '../../operation/engine.js';
import { lookAtTask } from './look.js';
import type { UpstreamOptions, UpstreamTask } from './retry.js';
import { startVendorTask } from './start.js';
import { parseState } from './state.js';

/**
 * Creates the engine that runs tasks at a vendor with the same contract: it starts each task once, looks at it
 * from time to time across failures and restarts, and downloads its files.
 */
export function createUpstreamEngine<Task extends TaskOperation>(options: UpstreamOptions): Engine<Task> {
  return {
    name: 'upstream',
    atOnce: options.settings.atOnce,
    isRemote: true,
    resumes: true,
    run: async (job, signal, _progress, memory) => {
      const { kind } = getTaskFacts(job.operation);
      const task: UpstreamTask = { ...options, kind, job, memory, signal };
      try {
        const { taskId, ...state } = parseState(await memory.read());
        if (taskId !== undefined) return await lookAtTask(task, { ...state, taskId });
        const started = await startVendorTask(task, state);
        return 'waitMs' in started ? started : await lookAtTask(task, started);
      } catch (error) {
        const { host } = new URL(options.vendor.baseUrl);
        if (error instanceof EngineFailure)
          options.count('vendor_errors', { vendor: host, outcome: 'failed' });
        throw error;
      }
    },
  };
}
