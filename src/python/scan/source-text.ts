/** Words, signs, texts and line ends of one file. The largest of published packs has a third of it. */
const MAX_TOKENS = 400_000;
const MAX_NESTING = 1000;

/** Encodings in which the letters of code are ASCII, as the scan reads them. */
const PLAIN_ENCODINGS =
  /^(?:utf-?8(?:-.*)?|u8|ascii|us-ascii|latin-?1|iso-?8859-\d+|(?:cp|windows-)125\d|cp9(?:32|36|49|50)|gbk|gb2312|gb18030|big5|euc-?\w+|shift-?jis|sjis|koi8-[ru])$/i;

/** Of these, a letter may end in the byte of a sign, such as a backslash. */
const WIDE_ENCODINGS: readonly (readonly [name: RegExp, label: string])[] = [
  [/^(?:gb|cp936)/, 'gb18030'],
  [/^(?:big5|cp950)/, 'big5'],
  [/^(?:s|cp932)/, 'shift_jis'],
  [/^(?:euc-?kr|cp949)/, 'euc-kr'],
];

/**
 * Decodes a file as Python does, which ends lines at each carriage return.
 * @returns the reason if that is not possible, as the end of a sentence
 */
export function decodePython(content: Buffer): { readonly text: string } | { readonly problem: string } {
  const encoding = findEncoding(content)?.toLowerCase().replaceAll('_', '-');
  if (encoding && !PLAIN_ENCODINGS.test(encoding))
    return { problem: `it is written in the encoding ${encoding}` };
  const label = WIDE_ENCODINGS.find(([name]) => name.test(encoding ?? ''))?.[1];
  return { text: new TextDecoder(label).decode(content).replace(/\r\n?/g, '\n') };
}

export interface TokenCount {
  readonly tokens: number;
  /** Why the file must not be parsed, as the end of a sentence; absent where it may be. */
  readonly problem?: string;
}

/**
 * Counts words and signs in one pass over the bytes, before a parser takes two hundred bytes of memory for each of them.
 */
export function countTokens(content: Buffer): TokenCount {
  let tokens = 0;
  let depth = 0;
  for (let at = 0; at < content.length && tokens <= MAX_TOKENS; tokens++) {
    const byte = content[at] ?? 0;
    if (isWord(byte)) at = findWordEnd(content, at);
    else if (isQuote(byte)) at = findTextEnd(content, at);
    else if (byte === HASH) at = findLineEnd(content, at);
    else at++;
    if (byte === 0x28 || byte === 0x5b || byte === 0x7b) depth++;
    else if (byte === 0x29 || byte === 0x5d || byte === 0x7d) depth = Math.max(0, depth - 1);
    if (depth > MAX_NESTING) return { tokens, problem: `its brackets nest more than ${MAX_NESTING} deep` };
    while (isSpace(content[at])) at++;
  }
  if (tokens > MAX_TOKENS)
    return { tokens, problem: `it holds more than ${MAX_TOKENS} words and signs of code` };
  return { tokens };
}

function findEncoding(content: Buffer): string | undefined {
  // Whole lines, however long the first is.
  const end = findLineEnd(content, findLineEnd(content, 0) + 1);
  return content
    .toString('latin1', 0, end)
    .split(/\r\n?|\n/, 2)
    .map((line) => /^(?:\xef\xbb\xbf)?\s*#.*?coding[:=][ \t]*([-\w.]+)/.exec(line)?.[1])
    .find(Boolean);
}

const HASH = 0x23;
const NEWLINE = 0x0a;
const BACKSLASH = 0x5c;

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0c;
}

function isQuote(byte: number): boolean {
  return byte === 0x22 || byte === 0x27;
}

function isWord(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const letter = byte | 0x20;
  return (
    (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x5f || byte >= 0x80
  );
}

function findWordEnd(content: Buffer, start: number): number {
  let at = start;
  while (isWord(content[at])) at++;
  return at;
}

function findLineEnd(content: Buffer, start: number): number {
  const end = content.indexOf(NEWLINE, start);
  return end === -1 ? content.length : end;
}

function findTextEnd(content: Buffer, start: number): number {
  const quote = content[start];
  const isLong = content[start + 1] === quote && content[start + 2] === quote;
  for (let at = start + (isLong ? 3 : 1); at < content.length; at++) {
    if (content[at] === BACKSLASH) at++;
    else if (content[at] === NEWLINE && !isLong) return at;
    else if (content[at] === quote && !isLong) return at + 1;
    else if (content[at] === quote && content[at + 1] === quote && content[at + 2] === quote) return at + 3;
  }
  return content.length;
}
