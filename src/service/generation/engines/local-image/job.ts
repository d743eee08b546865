import type { EngineJob } from '../../engine.js';
import type { Watch } from './paint.js';
import type { Picture } from './picture.js';

/** One task in the thread that works on it. */
export type LocalJob = Pick<EngineJob, 'images' | 'seed'> & {
  readonly request: Readonly<Record<string, unknown>>;
};

export interface Result {
  readonly picture: Picture;
  /** 0 to 1 */
  readonly sharpen: number;
}

export type Operation = (job: LocalJob, watch: Watch) => Promise<Result>;

/** Request fields as the contract declares them; they were checked when the task was made. */
export function fields<Request>(job: LocalJob): Request {
  return job.request as Request;
}

/** @throws TypeError where the image is not among the task's */
export function imagePath(job: LocalJob, field: string): string {
  const path = job.images[field];
  if (path === undefined) throw new TypeError(`The task has no image ${field}.`);
  return path;
}
