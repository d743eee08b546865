export type ImageOperation =
  | 'image.relight'
  | 'image.styleTransfer'
  | 'image.skinEnhancer'
  | 'image.upscaler';

export type VideoOperation = 'video.text2video' | 'video.startEnd2video' | 'video.extend';

export type TaskOperation = ImageOperation | VideoOperation;

/** One task, as an engine sees it: plain data, which may be handed to another thread or process. */
export interface EngineJob<Operation extends TaskOperation = TaskOperation> {
  /** The task's id, the same at every attempt. */
  readonly id: string;
  readonly operation: Operation;
  /** The request as it was checked, defaults filled in; a field that held an image names an entry of `images`, unless it can only be a URL. */
  readonly request: Record<string, unknown>;
  /**
   * Paths of the checked inputs, by the name of their field; items of a list as `images.0`, the video of an extension as
   * `video`. Only read.
   */
  readonly images: Readonly<Record<string, string>>;
  /** The same at every attempt of one task. Of images 0 to 2^32 - 1; of videos any int32, negative ones too. */
  readonly seed: number;
  /** A private, empty folder; results are written here. */
  readonly folder: string;
}

export interface EngineFile {
  readonly path: string;
  readonly contentType: string;
  /** Of a video task: the video itself, or the picture that stands for it. Each video is followed by its cover. */
  readonly role?: 'video' | 'cover';
}

export interface EngineResult {
  /** In the order they are shown; at least one. */
  readonly files: readonly EngineFile[];
}

/** A text that an engine keeps with one task over attempts and crashes, such as the id of a vendor's task. */
export interface EngineMemory {
  /** @returns undefined where nothing was written */
  read(): Promise<string | undefined>;
  /** Replaces the text; durable when it returns. */
  write(text: string): Promise<void>;
}

/** Makes results. An attempt that was cut is begun again from nothing, with the same seed and memory. */
export interface Engine<Operation extends TaskOperation = TaskOperation> {
  readonly name: string;
  /** So many tasks at once. */
  readonly atOnce: number;
  /** An attempt that was cut goes on where it was: it need not be waited for when the service ends. */
  readonly resumes?: boolean;
  /** Why nothing can be made here, in a sentence: tasks are refused with it. Absent, or undefined: it can. */
  unavailable?(): Promise<string | undefined>;
  /**
   * @param signal aborted when the service ends; the promise settles soon after
   * @param progress how much is done, 0 to 1
   * @throws EngineFailure when the task itself cannot be done; anything else is the service's own failure, and retried
   */
  run(
    job: EngineJob<Operation>,
    signal: AbortSignal,
    progress: (part: number) => void,
    memory: EngineMemory,
  ): Promise<EngineResult>;
}

/** What makes each kind of thing. */
export interface Engines {
  readonly image: Engine<ImageOperation>;
  readonly video: Engine<VideoOperation>;
}

/** Ends the task as failed, and gives its credits back. */
export class EngineFailure extends Error {
  override readonly name = 'EngineFailure';

  /** Short and stable, for programs: the err_code of a video task. */
  readonly code: string;

  constructor(
    message: string,
    { code = 'generation_failed', ...options }: ErrorOptions & { code?: string } = {},
  ) {
    super(message, options);
    this.code = code;
  }
}
