const SIMPLE_ESCAPES: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};

const ESCAPES =
  /\\(?:\r?(\n)|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|N\{[^}]{0,100}\}|([\s\S]))/g;

/** The value of a Python string's inner text; `\N{…}` stays as it is written. */
export function unescapeText(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPES, (whole, newline, x, u, long, octal, letter) => {
    if (newline) return '';
    const hex = x ?? u ?? long;
    if (hex) return toCharacter(Number.parseInt(hex, 16), whole);
    if (octal) return toCharacter(Number.parseInt(octal, 8), whole);
    return SIMPLE_ESCAPES[letter] ?? whole;
  });
}

function toCharacter(code: number, otherwise: string): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : otherwise;
}

/** A Python number's value: bigint for int, number for float, undefined for what JSON cannot hold (`3j`). */
export function parseNumber(text: string): bigint | number | undefined {
  const digits = text.replaceAll('_', '').toLowerCase();
  // Settings never have thousands of digits, and BigInt takes quadratic time over them.
  if (digits.length > 400 || /[jl]$/.test(digits)) return undefined;
  if (/^0[xob]/.test(digits) || /^\d+$/.test(digits)) {
    try {
      return BigInt(digits);
    } catch {
      return undefined;
    }
  }
  const value = Number(digits);
  return Number.isNaN(value) ? undefined : value;
}
