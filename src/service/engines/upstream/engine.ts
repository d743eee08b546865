import type { TaskOperation } from '../../../contract/index.js';
import { getTaskFacts } from '../../../contract/index.js';
import { type Engine, EngineFailure } from '../../operation/engine.js';
import { checkVendorImages } from './image-limits.js';
import { lookAtTask } from './look.js';
import { LOOKS_SHARE } from './request-window.js';
import type { UpstreamOptions, UpstreamTask } from './retry.js';
import { checkOptions } from './route.js';
import { startVendorTask } from './start.js';
import { parseState } from './state.js';
import { cancelVendorTask } from './vendor-task.js';

/**
 * Creates the engine that runs tasks at a vendor, as its profile describes it: it starts each task once, looks at it
 * from time to time across failures and restarts, and downloads its files.
 */
export function createUpstreamEngine<Task extends TaskOperation>(options: UpstreamOptions): Engine<Task> {
  const { vendor, settings } = options;
  const { profile } = vendor;
  return {
    name: 'upstream',
    atOnce: settings.atOnce ?? profile.limits.atOnce ?? 50,
    checkRequest: (operation, request) =>
      checkOptions({ profile, models: settings.models }, operation, request),
    checkImages: (images) =>
      checkVendorImages(profile.limits, images, options.callbacks.isReachable(vendor.baseUrl)),
    cancel: async (memory, signal) => {
      const { taskId, cancel } = parseState(memory);
      return taskId !== undefined && cancelVendorTask(vendor, { taskId, cancel }, signal);
    },
    looksPerMinute: profile.limits.requestsPerMinute && profile.limits.requestsPerMinute * LOOKS_SHARE,
    isRemote: true,
    resumes: true,
    run: async (job, signal, onProgress, memory) => {
      const { kind } = getTaskFacts(job.operation);
      const task: UpstreamTask = { ...options, kind, job, memory, signal, progress: () => onProgress(0) };
      try {
        const { taskId, ...state } = parseState(await memory.read());
        if (taskId !== undefined) return await lookAtTask(task, { ...state, taskId });
        const started = await startVendorTask(task, state);
        return 'taskId' in started ? await lookAtTask(task, started) : started;
      } catch (error) {
        const { host } = new URL(vendor.baseUrl);
        if (error instanceof EngineFailure)
          options.count('vendor_errors', { vendor: host, outcome: 'failed' });
        throw error;
      }
    },
  };
}
