import type { Readable } from 'node:stream';

/** An object that is written but not yet visible under its key. */
export interface Staged {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Makes it visible under its key, replacing the previous object; durable when it returns. */
  commit(): Promise<void>;
  /** Removes it; does nothing after commit. */
  discard(): Promise<void>;
}

/** First and last byte, both included. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Stores archives and results, on disk or in S3. Keys are `/`-separated and created by the service.
 */
export interface Storage {
  /**
   * Writes a stream; a failed source leaves nothing.
   * @throws StorageMissing; TooLarge once more than `maxBytes` were read
   */
  stage(key: string, source: Readable, maxBytes: number): Promise<Staged>;
  /** @throws ObjectMissing, StorageMissing */
  read(key: string, range?: Range): Promise<Readable>;
  /** A local file that holds the object until `release`. */
  borrow(key: string): Promise<{ readonly path: string; release(): Promise<void> }>;
  /** Does nothing if nothing is stored. */
  remove(key: string): Promise<void>;
  /** The names of all objects. */
  list(): AsyncIterable<string>;
  /** The name of the object of a key. */
  toName(key: string): string;
}

/** Nothing is stored under a key. */
export class ObjectMissing extends Error {
  override readonly name = 'ObjectMissing';
}

/** The storage itself is gone. */
export class StorageMissing extends Error {
  override readonly name = 'StorageMissing';
}

export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}
