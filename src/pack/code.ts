import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { type Definitions, extract } from './definitions/extract.js';
import { type ParsePython, pythonParser } from './definitions/grammar.js';
import { PackModules } from './definitions/pack-modules.js';
import { readModule } from './definitions/statements.js';
import type { PackFile } from './files.js';
import type { FileReader } from './read-archive.js';
import type { Finding } from './scan/finding.js';
import { scanPython } from './scan/python.js';
import { scanSecrets } from './scan/secrets.js';

/** A Python file that could not be read, or not wholly. */
export interface Unreadable {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** What a pack's code says of itself. */
export interface CodeReport extends Definitions {
  readonly unreadable: Unreadable[];
  /** By file and line. */
  readonly findings: Finding[];
}

const MAX_FILE = 2 * 1024 * 1024;
/** Bytes of Python that are kept to follow; published packs have a tenth. */
const MAX_TOTAL = 64 * 1024 * 1024;
const MAX_FINDINGS = 2000;

/** Files that may hold a secret in plain text. */
const text =
  /(?:^|\/)(?:[^./]+|\.[^/]*|[^/]*\.(?:py|js|mjs|cjs|ts|jsx|tsx|json|toml|ya?ml|txt|md|cfg|ini|conf|sh|bash|bat|cmd|ps1|html|xml|ipynb|env|pem|key|properties|p12|pfx|jks|keystore|ppk|kdbx))$/i;

/**
 * Reads definitions and findings out of a pack's files, as `inspectArchive` hands them over or one by one. Nothing of the
 * pack runs; one syntax tree at a time is in memory, for both uses; whatever the files hold, neither `read` nor `finish`
 * throws, and both do bounded work.
 */
export class CodeReader implements FileReader {
  readonly maxBytes = MAX_FILE;
  readonly #modules = new PackModules();
  readonly #findings: Finding[] = [];
  readonly #unreadable: Unreadable[] = [];
  /** Python that was announced and never handed over: it was too large. */
  readonly #awaited = new Set<string>();
  #kept = 0;

  constructor(readonly parse: ParsePython) {}

  wanted(path: string): boolean {
    if (path.endsWith('.py')) this.#awaited.add(path);
    return text.test(path);
  }

  async read(path: string, content: Buffer): Promise<void> {
    this.#report(scanSecrets(path, content));
    if (!path.endsWith('.py')) return;
    if (this.#kept + content.length > MAX_TOTAL) return;
    this.#kept += content.length;
    this.#awaited.delete(path);
    this.#python(path, new TextDecoder().decode(content));
    // Lets a service answer others between two files.
    await setImmediate();
  }

  #python(file: string, code: string): void {
    const source = { path: file, text: code, firstLine: 1 };
    const broken = this.parse(code, (root) => {
      this.#modules.add({ path: file, statements: readModule(root, source) });
      this.#report(scanPython(root, source));
      return root.hasError;
    });
    if (broken === undefined) this.#fail(file, 'takes too long to parse; it is left out');
    else if (broken) this.#fail(file, 'is not all valid Python; what could be read of it is used');
  }

  #fail(file: string, message: string): void {
    this.#unreadable.push({ file, line: 1, message });
  }

  #report(found: readonly Finding[]): void {
    this.#findings.push(...found.slice(0, MAX_FINDINGS - this.#findings.length));
  }

  /** Follows what was read. Takes up to a second or two of computing for the largest packs. */
  finish(): CodeReport {
    for (const file of this.#awaited) this.#fail(file, 'is too large to read; it is left out');
    this.#findings.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
    return { ...extract(this.#modules, this.parse), unreadable: this.#unreadable, findings: this.#findings };
  }
}

/** Loads the grammar, once for all readers. */
export async function codeReader(): Promise<CodeReader> {
  return new CodeReader(await pythonParser());
}

/**
 * The same for files on disk.
 *
 * @throws the system's error where a file cannot be read
 */
export async function readCode(
  files: Iterable<Pick<PackFile, 'path' | 'absolute' | 'size'>>,
): Promise<CodeReport> {
  const reader = await codeReader();
  for (const file of files)
    if (reader.wanted(file.path) && file.size <= reader.maxBytes)
      await reader.read(file.path, await readFile(file.absolute));
  return reader.finish();
}
