import type { Node } from 'web-tree-sitter';

/** Words that are no values: what stands beside them says nothing. */
const KEYWORDS = new Set(
  `and as assert async await break class continue def del elif else except finally for from global if import in is lambda
  nonlocal not or pass raise return try while with yield`.split(/\s+/),
);
/** Names that may begin a statement, and are followed by a value then: `match x:`. */
const SOFT_KEYWORDS = new Set(['match', 'case', 'type']);
const BLOCK_WORD = /^(?:async|case|class|def|elif|else|except|finally|for|if|match|try|while|with)\b/;

const BLANKS = /[ \t\f]*/y;
const WORD = /[\p{L}\p{N}_\u0080-\uffff]+/uy;
const NUMBER = /0[xob][\da-f_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:e[+-]?\d[\d_]*)?j?/iy;
const TEXT_PREFIX = /^(?:[bru]|[ft]r?|r[bft]|br)$/i;
const CONFLICT_MARK = /(?:<{7}|={7}|>{7})(?: .*)?$/my;

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const MAX_NESTED_TEXTS = 50;

/**
 * Finds the line of an error that every Python from 3.8 on reports. Only what is certain without a grammar counts: brackets,
 * ends of texts, indents, and two values side by side.
 */
export function findSyntaxError(text: string): number | undefined {
  const { error } = new SyntaxScan(text);
  return error === undefined ? undefined : text.slice(0, error).split('\n').length;
}

/** The line of the first error of a syntax tree that has one. */
export function findErrorLine(root: Node): number {
  let node = root;
  for (let next: Node | null | undefined = root; next; next = node.children.find((one) => one?.hasError))
    node = next;
  return node.startPosition.row + 1;
}

class SyntaxScan {
  /** Where the first error is. */
  error: number | undefined;
  #at = 0;
  readonly #open: { readonly closing: string | undefined; readonly at: number }[] = [];
  readonly #indents = [0];
  /** Where the statement begins. */
  #start = 0;
  #isNewLine = true;
  #expectsBlock = false;
  /** Whether texts in texts nest so deep that nothing is said of them. */
  #isTooDeep = false;
  #last: 'start' | 'value' | 'text' | 'colon' | 'other' = 'start';

  constructor(readonly text: string) {
    while (this.#at < text.length) this.#readToken();
    this.#endLine();
    const [left] = this.#open.slice(-1);
    if (left) this.#fail(left.at);
    else if (this.#expectsBlock) this.#fail(this.#start);
  }

  #fail(at: number): void {
    this.error = Math.min(at, this.error ?? at);
  }

  /** Ends the scan where what follows cannot be told apart. */
  #stop(): void {
    this.#at = this.text.length;
    this.#open.length = 0;
    this.#expectsBlock = false;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.text)?.[0] ?? '';
  }

  #readToken(): void {
    const { text } = this;
    const isLineStart = this.#at === 0 || text[this.#at - 1] === '\n';
    if (isLineStart && this.#match(CONFLICT_MARK)) this.#fail(this.#at);
    if (this.#isNewLine) this.#readIndent();
    this.#at += this.#match(BLANKS).length;
    const at = this.#at;
    const sign = text[at];
    if (sign === undefined) return;
    if (sign === '#') this.#at = findLineEnd(text, at);
    else if (sign === '"' || sign === "'") this.#readText(at);
    else if (/\d/.test(sign) || (sign === '.' && /\d/.test(text[at + 1] ?? ''))) {
      this.#at += this.#match(NUMBER).length;
      this.#setValue(at, 'value');
    } else {
      const word = this.#match(WORD);
      if (word) this.#readWord(word);
      else this.#readSign(sign);
    }
  }

  #readWord(word: string): void {
    const at = this.#at;
    this.#at += word.length;
    const next = this.text[this.#at];
    const isStart = this.#last === 'start' || this.#last === 'colon';
    if ((next === '"' || next === "'") && TEXT_PREFIX.test(word)) this.#readText(at, /[ft]/i.test(word));
    else if (KEYWORDS.has(word) || (isStart && SOFT_KEYWORDS.has(word))) this.#last = 'other';
    else this.#setValue(at, 'value');
  }

  #setValue(at: number, kind: 'value' | 'text'): void {
    if (this.#last === 'value' || (this.#last === 'text' && kind === 'value')) this.#fail(at);
    this.#last = kind;
  }

  #readSign(sign: string): void {
    const at = this.#at++;
    const next = this.text[this.#at];
    if (sign === '\n') {
      if (this.#open.length === 0) this.#endLine();
    } else if (sign === '\\') {
      if (next !== undefined && next !== '\n') this.#fail(at);
      this.#at++;
    } else if (CLOSING[sign]) {
      this.#open.push({ closing: CLOSING[sign], at });
      this.#last = 'other';
    } else if (')]}'.includes(sign)) {
      if (this.#open.pop()?.closing !== sign) {
        this.#fail(at);
        this.#stop();
      }
      this.#last = 'value';
    } else {
      const isInvalid = '$?`'.includes(sign) || (sign === '!' && next !== '=');
      if (isInvalid) this.#fail(at);
      if (next === '=') this.#at++;
      this.#last = sign === ';' ? 'start' : sign === ':' && next !== '=' ? 'colon' : 'other';
    }
  }

  #endLine(): void {
    if (this.#isNewLine) return;
    this.#expectsBlock = this.#last === 'colon';
    this.#last = 'start';
    this.#isNewLine = true;
  }

  #readIndent(): void {
    const { text } = this;
    let width = 0;
    let at = this.#at;
    for (; /[ \t\f]/.test(text[at] ?? ''); at++)
      width = text[at] === ' ' ? width + 1 : text[at] === '\t' ? width + 8 - (width % 8) : 0;
    if (text[at] === '\\') this.#stop();
    if (text[at] === '\\' || text[at] === '\n' || text[at] === '#' || at >= text.length) return;
    const top = this.#indents.at(-1) as number;
    // A block whose line has no colon is an error of that line.
    const isUnfinished = BLOCK_WORD.test(text.slice(this.#start, this.#start + 10));
    if (this.#expectsBlock !== width > top) this.#fail(width > top && isUnfinished ? this.#start : at);
    if (width > top) this.#indents.push(width);
    while (width < (this.#indents.at(-1) as number)) this.#indents.pop();
    if (width !== this.#indents.at(-1)) this.#fail(at);
    this.#start = at;
    this.#isNewLine = false;
    this.#expectsBlock = false;
  }

  #readText(at: number, isFormat = false): void {
    const end = this.#findTextEnd(this.#at, isFormat, 0);
    this.#setValue(at, 'text');
    if (end !== undefined) this.#at = end;
    else {
      if (!this.#isTooDeep) this.#fail(at);
      this.#stop();
    }
  }

  /** @param at where the quotes are */
  #findTextEnd(at: number, isFormat: boolean, nesting: number): number | undefined {
    const { text } = this;
    const quote = text[at] as string;
    const mark = text.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote;
    let end: number | undefined = at + mark.length;
    while (end !== undefined && end < text.length) {
      const sign = text[end];
      // Before a brace, a backslash is a letter.
      if (sign === '\\') end += isFormat && text[end + 1] === '{' ? 1 : 2;
      else if (text.startsWith(mark, end)) return end + mark.length;
      else if (sign === '\n' && mark === quote) return undefined;
      else if (!isFormat || sign !== '{') end++;
      else end = text[end + 1] === '{' ? end + 2 : this.#findFieldEnd(end + 1, nesting + 1);
    }
    return undefined;
  }

  /** Finds the end of `{value:format}` in a text, which may hold further texts. */
  #findFieldEnd(from: number, nesting: number): number | undefined {
    const { text } = this;
    if (nesting > MAX_NESTED_TEXTS) this.#isTooDeep = true;
    if (this.#isTooDeep) return undefined;
    let depth = 0;
    let isFormat = false;
    for (let at: number | undefined = from; at !== undefined && at < text.length; ) {
      const sign = text[at] as string;
      if (depth === 0 && sign === '}') return at + 1;
      if (depth === 0 && sign === ':') isFormat = true;
      if (isFormat) at = sign === '{' ? this.#findFieldEnd(at + 1, nesting + 1) : at + 1;
      else if (sign === '"' || sign === "'") {
        const prefix = /[a-z]{0,2}$/i.exec(text.slice(Math.max(0, at - 2), at))?.[0] ?? '';
        at = this.#findTextEnd(at, /[ft]/i.test(prefix), nesting + 1);
      } else if (sign === '#') at = findLineEnd(text, at);
      else {
        if ('([{'.includes(sign)) depth++;
        else if (')]}'.includes(sign)) depth--;
        at++;
      }
    }
    return undefined;
  }
}

function findLineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
