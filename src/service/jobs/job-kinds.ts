import type { Context } from '../operation/context.js';
import type { JobKind } from '../queue/queue.js';
import { checkArchive } from './check-archive.js';
import { abandonVersion, expireTask, forgetInputs } from './cleanup.js';
import { deliverWebhook } from './deliver-webhook.js';
import { failDelivery, failQuarantinedTask, flagVersion } from './quarantine.js';
import { runTask } from './run-task.js';

/** Every kind of job with its handler and how many run in parallel. */
export function createJobKinds(context: Context): Readonly<Record<string, JobKind>> {
  const { image, video } = context.engines;
  const task = { run: runTask(context), quarantine: failQuarantinedTask(context) };
  return {
    'abandon-version': { run: abandonVersion(context), atOnce: 1 },
    // One at a time, because the memory that hostile archives use would add up.
    'check-archive': { run: checkArchive(context), atOnce: 1, quarantine: flagVersion(context) },
    'deliver-webhook': { run: deliverWebhook(context), atOnce: 20, quarantine: failDelivery(context) },
    'expire-task': { run: expireTask(context), atOnce: 1 },
    'forget-inputs': { run: forgetInputs(context), atOnce: 1 },
    'run-image-task': { ...task, atOnce: image.atOnce, resumes: image.resumes },
    'run-video-task': { ...task, atOnce: video.atOnce, resumes: video.resumes },
  };
}
