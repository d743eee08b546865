import type { Context } from '../context.js';
import type { Work } from '../queue/queue.js';
import { abandonVersion } from './abandon-version.js';
import { checkArchive } from './check-archive.js';

/** Every kind of job and who does it. */
export function work(context: Context): Record<string, Work> {
  return {
    'abandon-version': abandonVersion(context),
    'check-archive': checkArchive(context),
  };
}
