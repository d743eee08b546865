import { getTaskFacts, type TaskOperation } from '../../contract/index.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import type { PreviewJob, PreviewResult } from '../../preview/job.js';
import type { Configuration } from '../configuration/configuration.js';

export type ImageOperation = TaskOperation<'image'>;
export type VideoOperation = TaskOperation<'video'>;

/** One task as an engine gets it. Its results are listed in display order, at least one, and each video before its cover. */
export type EngineJob<Operation extends TaskOperation = TaskOperation> = Omit<PreviewJob, 'operation'> & {
  readonly operation: Operation;
};

export type EngineResult = PreviewResult;
export type EngineFile = EngineResult['files'][number];

/** The task goes on elsewhere, or is tried again: nothing of it runs here until the engine is asked again. */
export interface EngineWait {
  /** Milliseconds until then. */
  readonly waitMs: number;
  /** Whether it was started elsewhere, where it takes one of the places of `atOnce`. */
  readonly isStarted: boolean;
}

/** The kinds of jobs that run a task, and that look at one that was started elsewhere. */
export interface TaskJobKinds {
  readonly run: string;
  readonly watch: string;
}

/** @param name a kind of tasks, or an operation that has an engine of its own */
export function nameJobKinds(name: string): TaskJobKinds {
  return { run: `run-${name}-task`, watch: `watch-${name}-task` };
}

/** The kinds of jobs of an operation: those of its own engine, or of all operations of its kind. */
export function getJobKinds(
  { generation }: Pick<Configuration, 'generation'>,
  operation: TaskOperation,
): TaskJobKinds {
  return nameJobKinds(generation.operation[operation] ? operation : getTaskFacts(operation).kind);
}

export function getEngine({ engines }: { readonly engines: Engines }, operation: TaskOperation): Engine {
  return engines.operations?.[operation] ?? engines[getTaskFacts(operation).kind];
}

/** A text that an engine stores with a task across attempts and crashes, such as a vendor's task id. */
export interface EngineMemory {
  /** @returns undefined if nothing was written */
  read(): Promise<string | undefined>;
  /**
   * Replaces the text; durable when it returns.
   * @param isAsked whether a vendor may have started the task, or may do so from now on
   * @param vendorCredits what the vendor says that it charges, in its own credits, if it does
   * @throws TaskEnded if the task has ended, so that no vendor is asked for it any more
   */
  write(text: string, isAsked: boolean, vendorCredits?: number): Promise<void>;
}

/** An image of a request, which can be decoded. */
export interface InputImage {
  readonly mediaType: string;
  readonly bytes: number;
  /** Pixels, as displayed. */
  readonly width: number;
  readonly height: number;
}

/** Generates results. An interrupted attempt starts again from nothing, with the same seed and memory. */
export interface Engine<Operation extends TaskOperation = TaskOperation> {
  readonly name: string;
  /** How many tasks run in parallel. */
  readonly atOnce: number;
  /** How often its tasks may be looked at, by all services together. */
  readonly looksPerMinute?: number | undefined;
  /** Tasks run elsewhere, so that `atOnce` holds for all services together. */
  readonly isRemote?: boolean;
  /** It gets the images of a task at each look, too. */
  readonly needsImages?: boolean;
  /** An interrupted attempt continues where it was, so a shutdown need not wait for it. */
  readonly resumes?: boolean;
  /** @throws Refused not_supported or unavailable, with what new tasks are refused with */
  requireReady?(operation: Operation): Promise<void>;
  /**
   * Lists the options of a request that the engine does not have, so that they are refused before anything is charged.
   * @returns undefined if it does not have the operation
   */
  checkRequest?(operation: Operation, request: Readonly<Record<string, unknown>>): Problem[] | undefined;
  /** Lists what is wrong with the images of a request for this engine, before anything is charged. */
  checkImages?(images: Readonly<Record<string, InputImage>>): Problem[];
  /**
   * Asks the vendor to cancel a task.
   * @param memory that of the task
   * @returns whether it did, and charges nothing
   */
  cancel?(memory: string | undefined, signal: AbortSignal): Promise<boolean>;
  /**
   * @param signal aborted when the service stops; the promise settles soon after
   * @param job its `images` are empty once it was started elsewhere, unless it needs them
   * @param progress called with the part that is done, 0 to 1; with 0 it says that a task elsewhere has begun
   * @throws EngineFailure if the task cannot be done; any other error is the service's own and is retried
   */
  run(
    job: EngineJob<Operation>,
    signal: AbortSignal,
    progress: (part: number) => void,
    memory: EngineMemory,
  ): Promise<EngineResult | EngineWait>;
  /** Called once the service has stopped its jobs. */
  close?(): Promise<void>;
}

/** The engine of each kind of task, and of the operations that have one of their own. */
export interface Engines {
  readonly image: Engine<ImageOperation>;
  readonly video: Engine<VideoOperation>;
  readonly operations?: Readonly<Partial<Record<TaskOperation, Engine>>>;
}

/** The task was ended while it ran: cancelled, or too late. */
export class TaskEnded extends Error {
  override readonly name = 'TaskEnded';
}

/** Ends the task as failed and gives its credits back. */
export class EngineFailure extends Error {
  override readonly name = 'EngineFailure';

  /** Short and stable, for programs: the `err_code` of a video task. */
  readonly code: string;

  /** Whether a vendor may charge for the task nevertheless: its failure is not what the vendor reported. */
  readonly mayBeCharged: boolean;

  constructor(
    message: string,
    {
      code = 'generation_failed',
      mayBeCharged = false,
      ...options
    }: ErrorOptions & { code?: string | undefined; mayBeCharged?: boolean } = {},
  ) {
    super(message, options);
    this.code = code;
    this.mayBeCharged = mayBeCharged;
  }
}
