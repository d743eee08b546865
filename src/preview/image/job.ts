import type { OnProgress, PreviewJob } from '../job.js';
import type { Picture } from './picture.js';

/** A task within its worker thread. */
export type ImageJob = Pick<PreviewJob, 'images' | 'seed'> & {
  readonly request: Readonly<Record<string, unknown>>;
};

export interface PaintedImage {
  readonly picture: Picture;
  /** 0 to 1 */
  readonly sharpen: number;
}

export type ImageOperation = (job: ImageJob, onProgress: OnProgress) => Promise<PaintedImage>;

/** The request as declared in the contract; it was validated when the task was created. */
export function getRequest<Request>(job: ImageJob): Request {
  return job.request as Request;
}

/** @throws TypeError if the task has no such image */
export function getImagePath(job: ImageJob, field: string): string {
  const path = job.images[field];
  if (path === undefined) throw new TypeError(`The task has no image ${field}.`);
  return path;
}
