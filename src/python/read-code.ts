import { readFolderFile } from '../disk/folder-file.js';
import type { PackFile } from '../pack/files.js';
import type { FileReader } from '../pack/read-archive.js';
import { findSecretFileKind, findSecretMatches, isTemplate, toSearchableText } from '../pack/secrets.js';
import { type CodeReport, type CodeSelection, NOT_FOLLOWED, type Unreadable } from './code-report.js';
import { extractDefinitions } from './definitions/extract.js';
import { loadPythonParser, type ParsePython } from './definitions/grammar.js';
import { PackModules } from './definitions/pack-modules.js';
import { listStartModules } from './definitions/start-modules.js';
import { readModule } from './definitions/statements.js';
import { findLine } from './definitions/syntax.js';
import { isTestFile } from './definitions/unregistered.js';
import { findErrorLine, findSyntaxError } from './find-syntax-error.js';
import { createFinding, createUnreadFinding, type Finding } from './scan/finding.js';
import { scanPython } from './scan/python.js';
import { countTokens, decodePython } from './scan/source-text.js';

interface Reading extends CodeSelection {
  /** Called with the file, or `definitions`, that is begun, and with undefined when it is done. */
  readonly onStep?: (at: string | undefined) => void;
}

const MIB = 1024 * 1024;
/** Bytes of one Python file that is scanned. */
const MAX_SCANNED = 16 * MIB;
/** Bytes of one file that is followed for definitions, or searched for secrets. */
const MAX_FILE = 2 * MIB;
/** Bytes of Python that are kept to follow; published packs have a fifth. */
const MAX_KEPT = 32 * MIB;
/** Words and signs of a whole pack, some ten seconds' worth; the largest of published packs has half. */
const MAX_TOKENS = 3_000_000;
const MAX_FINDINGS = 2000;

const PYTHON_FILE = /\.pyw?$/i;

/** Code that may set names of a module in ways that are not followed, or add to the nodes of the host itself. */
const DYNAMIC_CODE =
  /\b(?:exec|setattr|globals|locals|vars|importlib|pkgutil|runpy|__import__|__dict__|__getattr__|f_globals)\b|(?<![.\w])eval\(|\.modules\b(?!\()|\bfrom (?:sys|nodes) import\b|[.'"]NODE_CLASS_MAPPINGS\b/;

/** What Python imports or loads without its source. */
const COMPILED_FILE = /\.(?:py[cdo]|so(?:\.\d+)*|dll|dylib)$/i;

/** Files that may hold a secret in plain text. */
const TEXT_FILE =
  /(?:^|\/)(?:[^./]+|\.[^/]*|[^/]*\.(?:py|js|mjs|cjs|ts|jsx|tsx|json|toml|ya?ml|txt|md|cfg|ini|conf|sh|bash|bat|cmd|ps1|html|xml|ipynb|env|pem|key|properties|p12|pfx|jks|keystore|ppk|kdbx))$/i;

/**
 * Reads definitions and findings out of a pack's files, as `inspectArchive` hands them over or one by one. Nothing of the
 * pack runs; one syntax tree at a time is in memory, for both uses. Python that is not scanned is a finding itself.
 */
class CodeReader implements FileReader {
  readonly #modules = new PackModules();
  readonly #findings = { high: [] as Finding[], low: [] as Finding[] };
  readonly #unreadable: Unreadable[] = [];
  /** Files that no Python can parse. */
  readonly #broken = new Set<string>();
  #kept = 0;
  #tokens = 0;

  constructor(
    readonly parse: ParsePython,
    readonly reading: Reading,
  ) {}

  wanted(path: string, size: number): boolean {
    if (COMPILED_FILE.test(path)) this.#report([createFinding(path, 1, 'compiled-code')]);
    if (!PYTHON_FILE.test(path)) return size <= MAX_FILE && TEXT_FILE.test(path);
    const why = size > MAX_SCANNED ? `it has more than ${MAX_SCANNED / MIB} MiB` : this.reading.unread[path];
    if (why) this.#leaveOut(path, why);
    return !why;
  }

  async read(path: string, content: Buffer): Promise<void> {
    this.reading.onStep?.(path);
    this.#report(scanSecrets(path, content));
    if (PYTHON_FILE.test(path)) this.#python(path, content);
    this.reading.onStep?.(undefined);
  }

  #python(file: string, content: Buffer): void {
    const decoded = decodePython(content);
    if ('problem' in decoded) {
      this.#leaveOut(file, decoded.problem);
      return;
    }
    const { text } = decoded;
    const { tokens, problem } = countTokens(Buffer.from(text));
    this.#tokens += tokens;
    const tooMuch = `the pack holds more than ${MAX_TOKENS} words and signs of code`;
    const why = problem ?? (this.#tokens > MAX_TOKENS ? tooMuch : undefined);
    if (why) {
      this.#leaveOut(file, why);
      return;
    }
    const source = { path: file, text, firstLine: 1 };
    const follow = this.#follows(file, content.length);
    const doubtful = this.parse(source.text, (root) => {
      this.#report(scanPython(root, source));
      const isDynamic = DYNAMIC_CODE.test(text);
      if (follow) this.#modules.add({ path: file, statements: readModule(root, source), isDynamic });
      return root.hasError && findErrorLine(root);
    });
    const broken = findSyntaxError(text);
    if (doubtful === undefined) this.#leaveOut(file, 'it takes too long to parse');
    else if (broken !== undefined) {
      this.#broken.add(file);
      this.#fail(file, 'is not valid Python; what could be read of it is used', broken);
    }
    // The grammar does not know all of Python, so it alone proves nothing.
    else if (doubtful)
      this.#fail(file, 'may not be valid Python; what could be read of it is used', doubtful);
  }

  #follows(file: string, size: number): boolean {
    if (!this.reading.follow || !file.endsWith('.py')) return false;
    if (size > MAX_FILE || this.#kept + size > MAX_KEPT) {
      this.#fail(file, 'is too large to follow; its definitions are left out');
      return false;
    }
    this.#kept += size;
    return true;
  }

  #leaveOut(file: string, why: string): void {
    this.#fail(file, `cannot be read: ${why}; it is left out`);
    this.#report([createUnreadFinding(file, why)]);
  }

  #fail(file: string, message: string, line = 1): void {
    this.#unreadable.push({ file, line, message });
  }

  /** Marks the broken files without which the pack cannot be imported. */
  #listUnreadable(): Unreadable[] {
    const started = this.#broken.size > 0 ? listStartModules(this.#modules, this.#broken) : this.#broken;
    return this.#unreadable.map((one) => {
      const stops = this.#broken.has(one.file) && started.has(one.file);
      return stops ? { ...one, message: 'is not valid Python; ComfyUI cannot load this pack', stops } : one;
    });
  }

  #report(found: readonly Finding[]): void {
    // Each has room of its own, so that none of the low ones can crowd out what flags a version.
    for (const one of found)
      if (this.#findings[one.severity].length < MAX_FINDINGS) this.#findings[one.severity].push(one);
  }

  /** Follows what was read. Takes up to a second or two of computing for the largest packs. */
  finish(): CodeReport {
    const findings = [...this.#findings.high, ...this.#findings.low];
    findings.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
    const unreadable = this.#listUnreadable();
    const rest = { unreadable, findings };
    if (!this.reading.follow) return { ...NOT_FOLLOWED, ...rest };
    this.reading.onStep?.('definitions');
    const { isEmpty, ...definitions } = extractDefinitions(this.#modules, this.parse);
    this.reading.onStep?.(undefined);
    const isCertain = isEmpty && unreadable.length === 0;
    return { followed: true, ...definitions, ...(isCertain && { isEmpty }), ...rest };
  }
}

/** Loads the grammar, once for all readers. */
export async function createCodeReader(reading: Reading = { follow: true, unread: {} }): Promise<CodeReader> {
  return new CodeReader(await loadPythonParser(), reading);
}

/**
 * The same for files on disk.
 *
 * @throws the system's error where a file cannot be read
 */
export async function readCode(
  files: Iterable<Pick<PackFile, 'path' | 'absolute' | 'size'>>,
  reading: Reading,
): Promise<CodeReport> {
  const reader = await createCodeReader(reading);
  for (const file of files)
    if (reader.wanted(file.path, file.size))
      await reader.read(file.path, readFolderFile(file.absolute, MAX_SCANNED));
  return reader.finish();
}

const MAX_SECRETS = 50;

/** Secrets in one file of a pack. `content` is searched as bytes; binary files are skipped. */
function scanSecrets(path: string, content: Buffer): Finding[] {
  const kind = findSecretFileKind(path.slice(path.lastIndexOf('/') + 1));
  const text = toSearchableText(content);
  const isEmpty = kind === 'environment file' && text !== undefined && isTemplate(text);
  if (kind && !isEmpty) return [createSecretFinding(path, 1, kind)];
  if (text === undefined) return [];
  const found: Finding[] = [];
  const source = { path, text, firstLine: 1 };
  for (const { index, kind } of findSecretMatches(text)) {
    if (found.length >= MAX_SECRETS) break;
    found.push(createSecretFinding(path, findLine({ source, start: index, end: index }), kind));
  }
  return found;
}

// Decided: a key in a test is reported and flags nothing, because tests make up keys that look like real ones. One in a
// document flags: readers of examples are given placeholders, which are known by their words.
function createSecretFinding(path: string, line: number, kind: string): Finding {
  const article = /^(?:[aeiouAEIOU]|npm|SSH)/.test(kind) ? 'an' : 'a';
  const advice = isTestFile(path)
    ? 'in a test; if it is real, remove and revoke it.'
    : 'remove it, and revoke it if it was ever published.';
  const message = `Holds ${article} ${kind}${isTestFile(path) ? ' ' : '; '}${advice}`;
  return createFinding(path, line, 'secret', { message, ...(isTestFile(path) && { severity: 'low' }) });
}
