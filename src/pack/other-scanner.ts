import { dirname, extname } from 'node:path/posix';
import { readFolderFile } from '../disk/folder-file.js';
import type { PackFile } from './files.js';
import { rethrowUnreadable } from './secrets.js';

/** One thing that the scanner of another registry is known to flag. */
export interface ScannerRule {
  /** Its name there. */
  readonly rule: string;
  readonly pattern: RegExp;
  /** The extensions of the files that it is applied to. */
  readonly files: readonly string[];
  readonly instead: string;
  /** Where it is reported, and when. */
  readonly source: string;
  readonly date: string;
}

const PYTHON = ['.py'];
const ANY_CODE = ['.py', '.js', '.mjs', '.ts', '.json'];

/**
 * What the scanner of the ComfyUI registry flags. Each finding flags a version, even one of severity `info`, and the
 * scanner matches text: comments count, and rules for Python are applied to JavaScript.
 */
export const comfyRules: readonly ScannerRule[] = [
  {
    rule: 'python_network_operations',
    pattern:
      /\.(?:connect|bind|send|recv)\(|\baiohttp\.ClientSession\b|\bsocket\.socket\(|\burllib\.request\b/,
    files: ANY_CODE,
    instead:
      'In JavaScript, call it by another name (const { connect } = node; or an arrow function in place of .bind). In Python, leave out network code that nodes do not need',
    source: 'Comfy-Org/ComfyUI-Manager#3059',
    date: '2026-08-23',
  },
  {
    rule: 'python_command_injection_risk',
    pattern: /\bsubprocess\b|\bos\.(?:system|popen|spawn\w*|exec[lv]\w*)\(/,
    files: PYTHON,
    instead: 'Call a library in place of a program, or ask for a manual review',
    source: 'Comfy-Org/registry-backend#192',
    date: '2026-08-07',
  },
  {
    rule: 'python_environment_manipulation',
    pattern: /\bos\.(?:environ|putenv|getenv|unsetenv)\b/,
    files: PYTHON,
    instead: 'Read settings from a file, or from an input of the node',
    source: 'Comfy-Org/registry-backend#209',
    date: '2026-08-27',
  },
  {
    rule: 'python_database_connections',
    pattern: /\b(?:sqlite3|psycopg2?|pymysql|pymongo)\.(?:connect|MongoClient)\b/,
    files: PYTHON,
    instead: 'Keep data in files',
    source: 'Comfy-Org/registry-backend#209',
    date: '2026-08-27',
  },
  {
    rule: 'eval',
    pattern: /(?<![\w.])(?:eval|exec)\(/,
    files: PYTHON,
    instead:
      'Use ast.literal_eval, or a parser of your own; eval and exec are banned there, not only flagged',
    source: 'Comfy-Org/ComfyUI-Manager#3085',
    date: '2026-07-15',
  },
  {
    rule: 'rm -rf',
    pattern: /\brm -(?=[a-z]*r)(?=[a-z]*f)[a-z]+/,
    files: [...ANY_CODE, '.sh', '.md', '.yml', '.yaml', '.toml'],
    instead: 'Leave the script out with .comfyignore',
    source: 'Comfy-Org/registry-backend#180',
    date: '2026-07-16',
  },
];

/** Third-party code without a license beside it. */
const VENDORED = {
  rule: 'vendored_unknown',
  folders: /^(?:.*\/)?(?:vendor|vendored|third_party|node_modules)\/(?:[^/]+\/)?/i,
  license: /(?:^|\/)(?:licen[cs]e|copying|notice)[^/]*$/i,
  instead: 'Add the license file of the code to its folder',
  source: 'laurigates/claude-plugins#2070',
  date: '2026-07-16',
};

export interface ScannerFinding extends Pick<ScannerRule, 'rule' | 'instead' | 'source' | 'date'> {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly match: string;
}

/** Larger files are data. */
const MAX_BYTES = 8 * 1024 ** 2;

/**
 * Finds what the scanner of the ComfyUI registry is known to flag: the first match of each rule in each line.
 * @throws PackError if a file cannot be read
 */
export async function scanAsComfy(files: readonly PackFile[]): Promise<ScannerFinding[]> {
  const findings: ScannerFinding[] = [];
  for (const file of files) {
    const rules = comfyRules.filter((rule) => rule.files.includes(extname(file.path).toLowerCase()));
    if (rules.length === 0 || file.size > MAX_BYTES) continue;
    const read = async () => readFolderFile(file.absolute, MAX_BYTES).toString();
    const text = await read().catch(rethrowUnreadable(file));
    for (const [index, line] of text.split('\n').entries()) {
      for (const { pattern, files: _, ...rule } of rules) {
        const [match] = pattern.exec(line) ?? [];
        if (match !== undefined) findings.push({ ...rule, file: file.path, line: index + 1, match });
      }
    }
  }
  return [...findings, ...findVendored(files)];
}

function findVendored(files: readonly PackFile[]): ScannerFinding[] {
  const { folders, license, ...rule } = VENDORED;
  const first = new Map<string, string>();
  for (const { path } of files) {
    const [folder] = folders.exec(path) ?? [];
    if (folder !== undefined && ANY_CODE.includes(extname(path)) && !first.has(folder))
      first.set(folder, path);
  }
  const licensed = files.filter(({ path }) => license.test(path)).map(({ path }) => `${dirname(path)}/`);
  return [...first]
    .filter(([folder]) => !licensed.some((place) => folder.startsWith(place) || place.startsWith(folder)))
    .map(([folder, file]) => ({ ...rule, file, line: 1, match: folder }));
}
