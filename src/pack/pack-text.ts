import { realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { readFolderFile, UnfitFileError } from '../disk/folder-file.js';
import { throwMachineTrouble } from '../disk/machine-trouble.js';

/** Reads a text file of the pack, or returns the problem as a sentence without its subject. */
export type ReadText = (path: string) => Promise<{ readonly text: string } | { readonly problem: string }>;

/** Much longer than anything written by hand. */
export const MAX_TEXT_BYTES = 1024 ** 2;

/** Creates a reader of small text files in the pack. Files outside the pack are refused. */
export function createTextReader(folder: string): ReadText {
  return async (path) => {
    if (isAbsolute(path)) return { problem: `refers to ${path}; use a path relative to the pack` };
    const root = await realpath(folder);
    const file = await realpath(join(root, path)).catch(throwMachineTrouble);
    if (file === undefined) return { problem: `refers to ${path}, which does not exist` };
    if (!file.startsWith(root.endsWith(sep) ? root : root + sep))
      return { problem: `refers to ${path}, which is outside the pack` };
    try {
      return {
        text: readFolderFile(file, MAX_TEXT_BYTES)
          .toString()
          .replace(/^\uFEFF/, ''),
      };
    } catch (error) {
      if (!(error instanceof UnfitFileError)) throw error;
      return { problem: `refers to ${path}, which is not a text file of at most 1 MiB` };
    }
  };
}
