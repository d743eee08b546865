import { closeSync, read } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { openFolderFile } from '../disk/folder-file.js';
import { isMachineTrouble } from '../disk/machine-trouble.js';
import type { PackFile } from './files.js';
import { quoteName } from './path.js';
import { PackError } from './problem.js';
import { runInOrder } from './run-in-order.js';

/** Where a secret was found. Never has the secret itself, because reports end up in logs. */
interface FoundSecret {
  readonly path: string;
  /** 1-based; absent if the whole file is a secret. */
  readonly line?: number;
  /** `private key`, `GitHub token`, `environment file`. */
  readonly kind: string;
}

/**
 * Finds what must not be published: files that always contain secrets, and keys and tokens with a known format in text.
 * Contents are streamed; binary files are skipped.
 *
 * @throws PackError if a file cannot be read
 */
export async function findSecrets(files: readonly PackFile[]): Promise<FoundSecret[]> {
  const found: FoundSecret[] = [];
  for await (const secrets of runInOrder(files, MAX_OPEN_FILES, findFileSecrets)) found.push(...secrets);
  return found;
}

async function findFileSecrets(file: PackFile): Promise<FoundSecret[]> {
  // A link and its target have different names.
  const kind = findSecretFileKind(basename(file.path)) ?? findSecretFileKind(basename(file.absolute));
  return kind ? [{ path: file.path, kind }] : findSecretsIn(file).catch(rethrowUnreadable(file));
}

/** Converts a system error to a PackError that names the file. */
export function rethrowUnreadable(file: PackFile) {
  return (error: NodeJS.ErrnoException): never => {
    if (!error.syscall || isMachineTrouble(error)) throw error;
    throw new PackError(`${quoteName(file.path)} cannot be read (${error.code}).`);
  };
}

/** Limits of an archive in a pack that is searched, too; larger ones are weights. */
const NESTED_LIMITS = {
  archive: 16 * 1024 ** 2,
  archiveEntries: 10_000,
  archiveUnpacked: 64 * 1024 ** 2,
  archiveRatio: 200,
};

/** Finds secrets in an archive that is a file of the pack. What cannot be unpacked is not searched. */
async function findSecretsInZip(file: PackFile): Promise<FoundSecret[]> {
  const found: FoundSecret[] = [];
  if (file.size > NESTED_LIMITS.archive) return found;
  const { inspectArchive } = await import('./read-archive.js');
  await inspectArchive(file.absolute, NESTED_LIMITS, {
    wanted(path, size) {
      const kind = findSecretFileKind(basename(path));
      if (kind) found.push({ path: `${file.path}/${path}`, kind });
      return !kind && size <= MAX_NESTED_BYTES;
    },
    read(path, content) {
      const [match] = findSecretMatches(toSearchableText(content) ?? '');
      if (match) found.push({ path: `${file.path}/${path}`, kind: match.kind });
    },
  });
  return found;
}

/** Finds the kind of a secret file by its name, such as `.env`. */
export function findSecretFileKind(name: string): string | undefined {
  return SECRET_FILES.find(({ name: pattern }) => pattern.test(name))?.kind;
}

/** Longer than any match, so that a match at the end of a chunk is complete with the next chunk. */
const OVERLAP = 2048;
const CHUNK_BYTES = 256 * 1024;
/** Bytes of a file in an archive in the pack that is searched. */
const MAX_NESTED_BYTES = 1024 ** 2;
const MAX_OPEN_FILES = 8;
const ZIP_START = Buffer.from('PK\x03\x04');

async function findSecretsIn(file: PackFile): Promise<FoundSecret[]> {
  const found = new Map<string, FoundSecret>();
  let carried = '';
  let line = 1;
  let isWide: boolean | undefined;
  const search = (text: string, until: number) => {
    for (const { index, kind } of findSecretMatches(text)) {
      if (index >= until) continue;
      const at = line + countNewlines(text.slice(0, index));
      found.set(`${at} ${kind}`, { path: file.path, line: at, kind });
    }
    line += countNewlines(text.slice(0, until));
    carried = text.slice(until);
  };
  for await (const chunk of readChunks(file)) {
    if (isWide === undefined) {
      if (chunk.subarray(0, ZIP_START.length).equals(ZIP_START)) return findSecretsInZip(file);
      if (toSearchableText(chunk) === undefined) return [];
      isWide = isWideText(chunk);
    }
    const text = carried + decodeText(chunk, isWide);
    search(text, Math.max(0, text.length - OVERLAP));
  }
  search(carried, carried.length);
  return [...found.values()];
}

/** Whether bytes are text in UTF-16 or UTF-32, in which every second byte of ASCII at least is zero. */
function isWideText(bytes: Buffer): boolean {
  const [first = 0, second = 0] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  const start = bytes.subarray(0, 64);
  // Weights often begin with zeros alone.
  if (start.length < 4 || start.every((byte) => byte === 0)) return false;
  return [0, 1].some((parity) => start.every((byte, at) => at % 2 !== parity || byte === 0));
}

/** In latin1 one byte is one character, so chunks never split a character; the patterns are ASCII. */
function decodeText(bytes: Buffer, isWide: boolean): string {
  return isWide ? bytes.toString('latin1').replaceAll('\0', '') : bytes.toString('latin1');
}

/**
 * Reads bytes as text for `findSecretMatches`.
 * @returns undefined for what is not text
 */
export function toSearchableText(bytes: Buffer): string | undefined {
  const isWide = isWideText(bytes);
  return isWide || !bytes.subarray(0, 8192).includes(0) ? decodeText(bytes, isWide) : undefined;
}

const readPart = promisify(read);

/** The buffer of a chunk is used again for the next. */
async function* readChunks(file: PackFile): AsyncGenerator<Buffer> {
  const { descriptor } = openFolderFile(file.absolute, { links: false });
  try {
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, file.size + 1));
    // What is added while it is read is not packed.
    for (let at = 0; at < file.size; ) {
      const { bytesRead } = await readPart(descriptor, buffer, 0, buffer.length, at);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Finds secrets by their format in a text with one character per byte. */
export function* findSecretMatches(text: string): Generator<{ index: number; kind: string }> {
  if (!ANY_SHAPE.test(text)) return;
  for (const { kind, shape } of SECRET_SHAPES) {
    for (const match of text.matchAll(shape))
      if (!isPlaceholder(match[0])) yield { index: match.index, kind };
  }
}

/** Words that a key has which somebody made up. */
const MADE_UP =
  /example|your|placeholder|dummy|redacted|replace|changeme|insert|sample|fake|test|demo|qwerty|x{6}/i;

/** `hf_xxxxxxxx` in a README is not a secret. Real keys are random: many different characters, no words and no pattern. */
function isPlaceholder(match: string): boolean {
  const random = match.slice(-40);
  return new Set(random).size < 8 || MADE_UP.test(random) || hasPattern(random.toLowerCase());
}

/** Characters in a row that count up or down, one by one or two by two (`a1b2c3d4`), or repeat what came before. */
const PATTERN_LENGTH = 6;

function hasPattern(text: string): boolean {
  const code = (at: number) => text.charCodeAt(at);
  const steps = [
    (at: number) => code(at) - code(at - 1) === 1,
    (at: number) => code(at) - code(at - 1) === -1,
    (at: number) => code(at) - code(at - 2) === 1,
    ...[3, 4, 5, 6, 8, 10].map((length) => (at: number) => code(at) === code(at - length)),
  ];
  return steps.some((isNext) => {
    let inRow = 1;
    for (let at = 1; at < text.length; at++) {
      inRow = isNext(at) ? inRow + 1 : 1;
      if (inRow >= PATTERN_LENGTH) return true;
    }
    return false;
  });
}

/** Whether an environment file says only what is to be filled in. */
export function isTemplate(text: string): boolean {
  const lines = text.matchAll(/^[ \t]{0,20}(?:export )?\w{1,100}[ \t]{0,20}=(.{0,500})$/gm);
  const values = [...lines].map(([, value = '']) => value.replace(/[\s"']/g, ''));
  return values.every((value) => value === '' || /^<.*>$/.test(value) || MADE_UP.test(value));
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** File names that always mean secrets. */
const SECRET_FILES: readonly { readonly kind: string; readonly name: RegExp }[] = [
  {
    kind: 'environment file',
    name: /^\.env(?:rc)?(?:~|[._-](?!(?:.*[._-])?(?:example|sample|template|tmpl|dist|defaults?|schema)$).+)?$/i,
  },
  {
    kind: 'environment file',
    name: /^(?:(?:prod|production|dev|staging|local|secrets?)\.env|\.dev\.vars)$/i,
  },
  {
    kind: 'private key',
    name: /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:~|[._-](?:bak|backup|old|orig|copy|\d+))?$/i,
  },
  { kind: 'key store', name: /\.(?:p12|pfx|jks|keystore|ppk|kdbx)$/i },
  { kind: 'package registry credentials', name: /^\.?pypirc$/i },
  { kind: 'network credentials', name: /^[._]?netrc$/i },
  { kind: 'git credentials', name: /^\.git-credentials$/ },
  { kind: 'password file', name: /^\.(?:htpasswd|pgpass|my\.cnf)$/ },
];

/**
 * Keys and tokens with a known format. The patterns are bounded and have no nested repetition, so no text is slow to
 * search. Matches are shorter than the overlap of two chunks.
 */
const SECRET_SHAPES: readonly { readonly kind: string; readonly shape: RegExp }[] = [
  {
    // Harmless code that reads keys often has the header alone; here, key material follows in lines or after `\n`.
    kind: 'private key',
    shape:
      /-----BEGIN (?:[A-Z]{2,9} )?PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]?|["'+,]){1,20}(?:[A-Za-z-]{1,30}: [^\n]{0,200}\n\s{0,3}){0,4}[A-Za-z0-9+/=]{40,100}/g,
  },
  {
    // The same in Base64, as in a kubeconfig.
    kind: 'private key',
    shape:
      /LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFUR|BFQyBQUklWQVRF|BPUEVOU1NIIFBSSVZBVEUg|BFTkNSWVBURUQgUFJJVkFUR)[A-Za-z0-9+/=]{60,100}/g,
  },
  { kind: 'private key', shape: /PuTTY-User-Key-File-\d: [a-z0-9-]{3,40}\s{1,2}Encryption: \w/g },
  { kind: 'regen token', shape: /\bregen_(?:pat|key|owner)_[A-Za-z0-9_-]{16,100}/g },
  { kind: 'webhook secret', shape: /\bwhsec_[A-Za-z0-9+/]{32,100}/g },
  { kind: 'AWS access key', shape: /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g },
  { kind: 'GitHub token', shape: /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})\b/g },
  { kind: 'GitLab token', shape: /\bglpat-[A-Za-z0-9_-]{20,60}/g },
  {
    kind: 'OpenAI key',
    shape:
      /\bsk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,200}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48})(?![A-Za-z0-9])/g,
  },
  { kind: 'Anthropic key', shape: /\bsk-ant-[a-z]{3,8}\d\d-[A-Za-z0-9_-]{60,200}/g },
  { kind: 'Hugging Face token', shape: /\bhf_[A-Za-z0-9]{34,60}\b/g },
  { kind: 'Replicate token', shape: /\br8_[A-Za-z0-9]{37}\b/g },
  { kind: 'Slack token', shape: /\bxox[abeoprs]-[A-Za-z0-9-]{24,250}/g },
  {
    kind: 'Slack webhook',
    shape: /hooks\.slack\.com\/services\/T[A-Z0-9]{6,14}\/B[A-Z0-9]{6,14}\/[A-Za-z0-9]{20,30}/g,
  },
  {
    kind: 'Discord webhook',
    shape: /discord(?:app)?\.com\/api\/webhooks\/\d{15,22}\/[A-Za-z0-9_-]{60,80}/g,
  },
  { kind: 'Stripe key', shape: /\b(?:sk|rk)_live_[A-Za-z0-9]{20,200}\b/g },
  { kind: 'Google API key', shape: /\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g },
  { kind: 'service account key', shape: /"private_key_id"\s{0,4}:\s{0,4}"[0-9a-f]{40}"/g },
  { kind: 'npm token', shape: /\bnpm_[A-Za-z0-9]{36}\b/g },
  {
    kind: 'registry token',
    // Near the start of a line, so not in minified code. The line is looked at last, because this is slow.
    shape: /:_(?:authToken|password|auth)(?<=^[^\n]{0,210})\s?=\s?["']?(?!\$)[^\s"']{8,500}/gm,
  },
  { kind: 'registry token', shape: /\bnpmAuthToken:\s?["']?[A-Za-z0-9_-]{20,500}/g },
  {
    kind: 'container registry password',
    shape:
      /"auths"\s{0,4}:\s{0,4}\{\s{0,20}"[^"\n]{1,200}"\s{0,4}:\s{0,4}\{\s{0,20}"auth"\s{0,4}:\s{0,4}"[A-Za-z0-9+/]{12,400}/g,
  },
  { kind: 'PyPI token', shape: /\bpypi-AgEI[A-Za-z0-9_-]{50,300}/g },
  { kind: 'SendGrid key', shape: /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g },
];

/** Finds a part of each shape. One search for all of them is faster than one for each, and most texts have none. */
const ANY_SHAPE =
  /PRIVATE KEY|LS0tLS1CRUdJTi|PuTTY-User|regen_(?:pat|key|owner)_|whsec_|\b(?:A[KS]IA[A-Z2-7]{16}|gh[pousr]_|github_pat_|sk-[A-Za-z0-9]|hf_|r8_|xox[abeoprs]-|[sr]k_live_|npm_|npmAuth|pypi-AgEI|SG\.)|glpat-|hooks\.slack|webhooks\/\d|AIza|private_key_id|"auths"|:_(?:auth|password)/;
