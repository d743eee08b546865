import { getTaskFacts, type TaskOperation } from '../../contract/index.js';

export type ImageOperation = TaskOperation<'image'>;
export type VideoOperation = TaskOperation<'video'>;

/** One task as an engine gets it: plain data, which can be passed to another thread or process. */
export interface EngineJob<Operation extends TaskOperation = TaskOperation> {
  /** The task's id, the same at every attempt. */
  readonly id: string;
  readonly operation: Operation;
  /**
   * The validated request, with defaults. A field that held an image holds the name of an entry of `images`,
   * except a field that can only be a URL.
   */
  readonly request: Record<string, unknown>;
  /**
   * Paths of the checked inputs by field name; list items as `images.0`, an extended video as `video`.
   */
  readonly images: Readonly<Record<string, string>>;
  /** The same at every attempt of a task. For images 0 to 2^32 - 1; for videos any int32. */
  readonly seed: number;
  /** A private, empty folder for the results. */
  readonly folder: string;
}

export interface EngineFile {
  readonly path: string;
  readonly contentType: string;
  /** For a video task: the video or its cover image. Each video is followed by its cover. */
  readonly role?: 'video' | 'cover';
}

export interface EngineResult {
  /** In display order; at least one. */
  readonly files: readonly EngineFile[];
}

/** The task goes on elsewhere, or is tried again: nothing of it runs here until the engine is asked again. */
export interface EngineWait {
  /** Milliseconds until then. */
  readonly waitMs: number;
  /** Whether it was started elsewhere, where it takes one of the places of `atOnce`. */
  readonly isStarted: boolean;
}

/** The kind of job that looks at tasks that were started elsewhere. */
export function getWatchKind(operation: TaskOperation): string {
  return `watch-${getTaskFacts(operation).kind}-task`;
}

/** A text that an engine stores with a task across attempts and crashes, such as a vendor's task id. */
export interface EngineMemory {
  /** @returns undefined if nothing was written */
  read(): Promise<string | undefined>;
  /** Replaces the text; durable when it returns. */
  write(text: string): Promise<void>;
}

/** Generates results. An interrupted attempt starts again from nothing, with the same seed and memory. */
export interface Engine<Operation extends TaskOperation = TaskOperation> {
  readonly name: string;
  /** How many tasks run in parallel. */
  readonly atOnce: number;
  /** Tasks run elsewhere, so that `atOnce` holds for all services together. */
  readonly isRemote?: boolean;
  /** An interrupted attempt continues where it was, so a shutdown need not wait for it. */
  readonly resumes?: boolean;
  /** Why the engine cannot run, in a sentence that new tasks are refused with; undefined if it can run. */
  unavailable?(): Promise<string | undefined>;
  /**
   * @param signal aborted when the service stops; the promise settles soon after
   * @param job its `images` are empty once it was started elsewhere
   * @param progress called with the part that is done, 0 to 1
   * @throws EngineFailure if the task cannot be done; any other error is the service's own and is retried
   */
  run(
    job: EngineJob<Operation>,
    signal: AbortSignal,
    progress: (part: number) => void,
    memory: EngineMemory,
  ): Promise<EngineResult | EngineWait>;
}

/** The engine of each kind of task. */
export interface Engines {
  readonly image: Engine<ImageOperation>;
  readonly video: Engine<VideoOperation>;
}

/** Ends the task as failed and refunds its credits. */
export class EngineFailure extends Error {
  override readonly name = 'EngineFailure';

  /** Short and stable, for programs: the `err_code` of a video task. */
  readonly code: string;

  constructor(
    message: string,
    { code = 'generation_failed', ...options }: ErrorOptions & { code?: string | undefined } = {},
  ) {
    super(message, options);
    this.code = code;
  }
}
