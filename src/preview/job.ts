import type { TaskOperation } from '../contract/index.js';
import type { TaskKind } from '../contract/operation.js';

/** Names the engine in the metadata of every result. */
export const ENGINE_NOTE = 'engine: local-preview';

/** A task to make a preview for, or another result. Plain data, which is passed to another process. */
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
    readonly role?: 'video' | 'cover';
  }[];
}

/** An untrusted picture to inspect: the path of a file, or its bytes as Base64. */
export interface ImageToInspect {
  readonly image: { readonly path: string } | { readonly base64: string };
  /** Width times height. */
  readonly maxPixels: number;
}

/** Its size as displayed, and what is wrong with it. */
export interface ImageInspection {
  readonly width: number;
  readonly height: number;
  readonly problem?: 'format' | 'pixels' | 'content' | 'effort';
}

export type ImageWork = { readonly job: PreviewJob<'image'> } | { readonly inspect: ImageToInspect };

/** Messages of a process: the part that is done, from 0 to 1, and at the end one of the others. */
export type PreviewMessage =
  | { readonly part: number }
  | { readonly result: unknown }
  | { readonly failure: string }
  /** Trouble of the machine or a bug of the program, not a failure of the task. */
  | { readonly defect: string; readonly name: string; readonly code?: string | undefined };

/** The task cannot be done; trying again does not help. */
export class PreviewFailure extends Error {
  override readonly name = 'PreviewFailure';
}

/** Called with the part that is done, from 0 to 1. Throws to stop the work. */
export type OnProgress = (part: number) => void;
