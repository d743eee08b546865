import type { TaskOperation } from '../contract/index.js';
import type { TaskKind } from '../contract/operation.js';

/** Names the engine in the metadata of every result. */
export const ENGINE_NOTE = 'engine: local-preview';

/** A task to make a preview for, or another result. Plain data, which is passed to another thread or process. */
export interface PreviewJob<Kind extends TaskKind = TaskKind> {
  /** The same for every attempt. */
  readonly id: string;
  readonly operation: TaskOperation<Kind>;
  /**
   * The validated request with its defaults. A field that held an image holds the name of an entry of `images`, except a
   * field that can only be a URL.
   */
  readonly request: Record<string, unknown>;
  /** Paths of the checked inputs, by field; list items as `images.0`, an extended video as `video`. */
  readonly images: Readonly<Record<string, string>>;
  /** The same for every attempt. For images 0 to 2^32 - 1; for videos any int32. */
  readonly seed: number;
  /** A private, empty folder for the results. */
  readonly folder: string;
}

export interface PreviewResult {
  readonly files: readonly {
    readonly path: string;
    readonly contentType: string;
    /** For videos: the video itself, or its cover picture. */
    readonly role?: 'video' | 'cover';
  }[];
}

/** What is sent to the worker thread of an image. */
export interface ImageWorkerData {
  readonly job: PreviewJob<'image'>;
  /** One shared number: 1 asks the thread to stop. */
  readonly stop: SharedArrayBuffer;
}

/** Messages of a worker: the part that is done, from 0 to 1, and at the end one of the others. */
export type PreviewMessage =
  | { readonly part: number }
  | { readonly result: PreviewResult }
  | { readonly failure: string }
  /** A bug of the program, not a failure of the task. */
  | { readonly defect: string };

/** The task cannot be done; trying again does not help. */
export class PreviewFailure extends Error {
  override readonly name = 'PreviewFailure';
}

/** Called with the part that is done, from 0 to 1. Throws to stop the work. */
export type OnProgress = (part: number) => void;
