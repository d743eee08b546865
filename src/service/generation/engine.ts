export type ImageOperation =
  | 'image.relight'
  | 'image.styleTransfer'
  | 'image.skinEnhancer'
  | 'image.upscaler';

/** One task, as an engine sees it. */
export interface EngineJob {
  readonly operation: ImageOperation;
  /** The request as it was checked, defaults filled in; a field that held an image names an entry of `images`. */
  readonly request: Record<string, unknown>;
  /** Paths of the checked images, by the name of their field. Only read. */
  readonly images: Readonly<Record<string, string>>;
  /** The same at every attempt of one task. 0 to 2^32 - 1. */
  readonly seed: number;
  /** A private, empty folder; results are written here. */
  readonly folder: string;
}

export interface EngineResult {
  /** In the order they are shown; at least one. */
  readonly files: readonly { readonly path: string; readonly contentType: string }[];
}

/** Makes results. An attempt that was cut is begun again from nothing, with the same seed. */
export interface Engine {
  readonly name: string;
  /** So many tasks at once. */
  readonly atOnce: number;
  /**
   * @param signal aborted when the service ends; the promise settles soon after
   * @param progress how much is done, 0 to 1
   * @throws EngineFailure when the task itself cannot be done; anything else is the service's own failure, and retried
   */
  run(job: EngineJob, signal: AbortSignal, progress: (part: number) => void): Promise<EngineResult>;
}

/** Ends the task as FAILED, and gives its credits back. */
export class EngineFailure extends Error {
  override readonly name = 'EngineFailure';
}
