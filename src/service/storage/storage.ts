import type { Readable } from 'node:stream';

export interface StoredObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

/** First and last byte, both included. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Stores archives and results, on disk or in S3. Keys are `/`-separated and created by the service. An object is
 * written before the row that names it, under a key of its own, so that a transaction can be repeated; a job removes
 * the objects that no row came to name.
 */
export interface Storage {
  /**
   * Writes bytes or a stream; durable when it returns. A failed source leaves nothing.
   * @throws StorageMissing, StorageAway; TooLarge once more than `maxBytes` were read
   */
  write(key: string, source: Readable | Buffer, maxBytes: number): Promise<StoredObject>;
  /** @throws ObjectMissing, StorageMissing, StorageAway */
  read(key: string, range?: Range): Promise<Readable>;
  /** Reads a small object at once, which takes a fraction of a stream's time. @throws as `read` */
  readWhole(key: string): Promise<Buffer>;
  /** A local file that holds the object until `release`. */
  borrow(key: string): Promise<{ readonly path: string; release(): Promise<void> }>;
  /** Does nothing if nothing is stored. */
  remove(key: string): Promise<void>;
  /**
   * Signs a URL from which a client reads the object itself, valid for some minutes; absent if it reads from the
   * service.
   */
  signDownload?(key: string, file: DownloadHeaders): Promise<string>;
  /** Makes sure that it can be reached and, if it is a folder, written. @throws StorageMissing, StorageAway */
  requireReady(): Promise<void>;
  /** The names of the objects below a folder of keys, or of all. */
  list(folder?: string): AsyncIterable<string>;
  /** The name of the object of a key, which stands for the same object wherever a key does. */
  toName(key: string): string;
}

export interface DownloadHeaders {
  readonly type: string;
  readonly disposition: string;
}

/** Removes the objects below a folder of keys, except for some keys. */
export async function removeOthers(storage: Storage, folder: string, keys: readonly string[]): Promise<void> {
  const kept = new Set(keys.map((key) => storage.toName(key)));
  for await (const name of storage.list(folder)) {
    if (!kept.has(name)) await storage.remove(name);
  }
}

/** Nothing is stored under a key. */
export class ObjectMissing extends Error {
  override readonly name = 'ObjectMissing';
  readonly code = 'object_missing';
}

/** The storage itself is gone. */
export class StorageMissing extends Error {
  override readonly name = 'StorageMissing';
  readonly code = 'storage_missing';
}

/** What holds the objects cannot be reached, or refuses. */
export class StorageAway extends Error {
  override readonly name = 'StorageAway';
  readonly code = 'storage_away';
}

export class TooLarge extends Error {
  override readonly name = 'TooLarge';
  readonly code = 'object_too_large';
}
