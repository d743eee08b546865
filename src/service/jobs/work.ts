import type { Context } from '../context.js';
import type { Kind } from '../queue/queue.js';
import { abandonVersion } from './abandon-version.js';
import { checkArchive } from './check-archive.js';
import { deliverWebhook } from './deliver-webhook.js';
import { expireTask } from './expire-task.js';
import { forgetInputs } from './forget-inputs.js';
import { runTask } from './run-task.js';

/** Every kind of job, who does it, and how many of it at once. */
export function kinds(context: Context): Readonly<Record<string, Kind>> {
  const { image, video } = context.engines;
  return {
    'abandon-version': { run: abandonVersion(context), atOnce: 1 },
    // The memory that two hostile archives fill would add up.
    'check-archive': { run: checkArchive(context), atOnce: 1 },
    'deliver-webhook': { run: deliverWebhook(context), atOnce: 20 },
    'expire-task': { run: expireTask(context), atOnce: 1 },
    'forget-inputs': { run: forgetInputs(context), atOnce: 1 },
    'run-image-task': { run: runTask(context), atOnce: image.atOnce, resumes: image.resumes },
    'run-video-task': { run: runTask(context), atOnce: video.atOnce, resumes: video.resumes },
  };
}
