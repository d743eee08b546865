import { setImmediate } from 'node:timers/promises';
import { type Definitions, extract } from './definitions/extract.js';
import { pythonParser } from './definitions/grammar.js';
import { PackModules } from './definitions/pack-modules.js';
import { readModule } from './definitions/statements.js';

/** One file of a pack; its path is relative to the pack's root, with `/`. */
export interface PackFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  read(): Promise<Uint8Array>;
}

export interface Unreadable {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export interface Inspection extends Definitions {
  readonly unreadable: Unreadable[];
}

const MAX_FILE = 2 * 1024 * 1024;
const MAX_TOTAL = 64 * 1024 * 1024;

/**
 * Reads a pack's definitions and findings from its files, one parse for both. Nothing of the pack is run, one tree is in
 * memory at a time, and whatever the files hold, this neither throws nor takes more than bounded work. Throws only what
 * `read` throws.
 */
export async function inspect(files: Iterable<PackFile> | AsyncIterable<PackFile>): Promise<Inspection> {
  const parse = await pythonParser();
  const modules = new PackModules();
  const unreadable: Unreadable[] = [];
  let total = 0;
  for await (const file of files) {
    if (!file.path.endsWith('.py')) continue;
    if (file.size > MAX_FILE || total + file.size > MAX_TOTAL) {
      unreadable.push({ file: file.path, line: 1, message: 'too large to read; its nodes are not listed' });
      continue;
    }
    total += file.size;
    const text = new TextDecoder().decode(await file.read());
    const path = file.path;
    const read = parse(text, (root) => {
      const source = { path, text, firstLine: 1 };
      modules.add({ path, statements: readModule(root, source) });
      return root.hasError;
    });
    if (read !== false)
      unreadable.push({
        file: path,
        line: 1,
        message: 'is not valid Python; what could be read of it is used',
      });
    // Lets a service answer others between two files.
    await setImmediate();
  }
  return { ...extract(modules, parse), unreadable };
}
