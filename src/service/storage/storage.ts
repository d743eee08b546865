import type { Readable } from 'node:stream';

/** An object written in full, but not yet visible under its key. */
export interface Staged {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Makes it the object of its key, replacing what was there; durable when it returns. */
  commit(): Promise<void>;
  /** Forgets it; harmless after commit. */
  discard(): Promise<void>;
}

/** Bytes first to last, both included. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Where archives and results lie: a local disk, or S3. Keys are `/`-separated and made by the service alone.
 * Everything streams.
 */
export interface Storage {
  /**
   * Takes in a stream; a failed or cut source leaves nothing.
   * @throws TooLarge as soon as more than `maxBytes` came
   */
  stage(key: string, source: Readable, maxBytes: number): Promise<Staged>;
  /** Bytes, or undefined where nothing is stored. */
  size(key: string): Promise<number | undefined>;
  read(key: string, range?: Range): Promise<Readable>;
  /** A path on this machine's disk that holds the object until `release`. */
  borrow(key: string): Promise<{ readonly path: string; release(): Promise<void> }>;
  /** Harmless where nothing is stored. */
  remove(key: string): Promise<void>;
}

export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}
