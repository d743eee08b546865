import { closeSync, fstatSync, readSync } from 'node:fs';
import { type OpenedFile, openFolderFile, UnfitFileError } from '../disk/folder-file.js';
import { isMachineTrouble } from '../disk/machine-trouble.js';
import type { PackFile } from './files.js';
import { quoteName } from './path.js';
import { PackError } from './problem.js';

/** A range of a file. Small files have one part. */
export interface FilePart {
  readonly file: PackFile;
  readonly content: Buffer;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** Bytes of a file that are read and deflated at once. Part of the archive's format: other parts give other bytes. */
const PART_BYTES = 512 * 1024;

/**
 * Reads files part by part. Its calls block, because each takes microseconds; passing them to a thread would take longer
 * than deflating a small file.
 *
 * @throws PackError if a file is not the chosen one, or changes while it is read
 */
export function* readParts(files: Iterable<PackFile>): Generator<FilePart> {
  for (const file of files) {
    const { descriptor, stats } = openChosen(file);
    try {
      for (let start = 0; start === 0 || start < file.size; start += PART_BYTES) {
        const content = readRange(file, descriptor, start);
        const isLast = start + PART_BYTES >= file.size;
        const now = fstatSync(descriptor);
        if (isLast && (now.size !== stats.size || now.mtimeMs !== stats.mtimeMs))
          throw createChangedError(file);
        yield { file, content, isFirst: start === 0, isLast };
      }
    } finally {
      closeSync(descriptor);
    }
  }
}

function openChosen(file: PackFile): OpenedFile {
  const opened = attempt(file, () => openFolderFile(file.absolute, { links: false }));
  if (opened.stats.size === file.size) return opened;
  closeSync(opened.descriptor);
  throw createChangedError(file);
}

function readRange(file: PackFile, descriptor: number, start: number): Buffer {
  const content = Buffer.allocUnsafeSlow(Math.min(PART_BYTES, file.size - start));
  for (let done = 0; done < content.length; ) {
    const length = attempt(file, () =>
      readSync(descriptor, content, done, content.length - done, start + done),
    );
    if (length === 0) throw createChangedError(file);
    done += length;
  }
  return content;
}

function attempt<Result>(file: PackFile, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (isMachineTrouble(error)) throw error;
    if (error instanceof UnfitFileError) throw createChangedError(file);
    throw new PackError(
      `${quoteName(file.path)} cannot be read: it was removed, or you do not have permission.`,
    );
  }
}

function createChangedError(file: PackFile): PackError {
  return new PackError(
    `${quoteName(file.path)} changed while it was packed. Try again when no program is writing to it.`,
  );
}
