import type { Context } from '../context.js';
import type { Engine } from '../generation/engine.js';
import type { Work } from '../queue/queue.js';
import { abandonVersion } from './abandon-version.js';
import { checkArchive } from './check-archive.js';
import { deliverWebhook } from './deliver-webhook.js';
import { forgetInputs } from './forget-inputs.js';
import { runTask } from './run-task.js';

/** Every kind of job and who does it. */
export function work(context: Context, imageEngine: Engine): Record<string, Work> {
  return {
    'abandon-version': abandonVersion(context),
    'check-archive': checkArchive(context),
    'deliver-webhook': deliverWebhook(context),
    'forget-inputs': forgetInputs(context),
    'run-task': runTask(context, imageEngine),
  };
}
