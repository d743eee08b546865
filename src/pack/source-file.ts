import { closeSync, fstatSync, readSync } from 'node:fs';
import { type OpenedFile, openFolderFile, UnfitFileError } from '../disk/folder-file.js';
import { isMachineTrouble } from '../disk/machine-trouble.js';
import type { PackFile } from './files.js';
import { quoteName } from './path.js';
import { PackError } from './problem.js';

/**
 * A file that is packed. Fails if it is not the chosen file, or changes while it is read. Its calls block, because each
 * takes microseconds; passing them to a thread would take longer than deflating a small file.
 */
export class SourceFile {
  readonly file: PackFile;
  #opened: OpenedFile | undefined;

  constructor(file: PackFile) {
    this.file = file;
  }

  /**
   * Reads a range into the beginning of a buffer.
   * @throws PackError if it is not the chosen file, or is shorter
   */
  read(into: Buffer, start: number, end: number): Buffer {
    this.#opened ??= this.#open();
    const { descriptor } = this.#opened;
    const buffer = into.subarray(0, end - start);
    for (let done = 0; done < buffer.length; ) {
      const length = this.#attempt(() =>
        readSync(descriptor, buffer, done, buffer.length - done, start + done),
      );
      if (length === 0) throw this.#createChangedError();
      done += length;
    }
    return buffer;
  }

  /** Does nothing if it is not open. @throws PackError if it changed since it was opened */
  close(): void {
    if (!this.#opened) return;
    const { descriptor, stats } = this.#opened;
    const after = fstatSync(descriptor);
    this.abandon();
    if (after.size !== stats.size || after.mtimeMs !== stats.mtimeMs) throw this.#createChangedError();
  }

  /** Closes it, also after a failure. */
  abandon(): void {
    if (this.#opened) closeSync(this.#opened.descriptor);
    this.#opened = undefined;
  }

  #open() {
    const opened = this.#attempt(() => openFolderFile(this.file.absolute, { links: false }));
    if (opened.stats.size === this.file.size) return opened;
    closeSync(opened.descriptor);
    throw this.#createChangedError();
  }

  #attempt<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (isMachineTrouble(error)) throw error;
      if (error instanceof UnfitFileError) throw this.#createChangedError();
      throw new PackError(
        `${quoteName(this.file.path)} cannot be read: it was removed, or you do not have permission.`,
      );
    }
  }

  #createChangedError(): PackError {
    return new PackError(
      `${quoteName(this.file.path)} changed while it was packed. Try again when no program is writing to it.`,
    );
  }
}
