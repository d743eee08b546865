import type { Writable } from 'node:stream';
import type { ChalkInstance } from 'chalk';
import type { Failure } from './failure.js';
import { formatCell, listFields, readField } from './rows.js';
import type { System } from './system.js';
import { formatField, oneLine, stripControls, toJson } from './text.js';

export interface OutputMode {
  readonly json?: boolean;
  readonly ndjson?: boolean;
  readonly quiet?: boolean;
  /** `false` turns colour off. */
  readonly color?: boolean;
}

/** The two streams: answers on stdout, everything said to a person on stderr. */
export class Output {
  readonly #out: Promise<Stream>;
  readonly #err: Promise<Stream>;
  #written: Promise<void> = Promise.resolve();
  /** What turns below the lines that stay. */
  spinner: { clear(): void; render(): void } | undefined;

  constructor(
    readonly system: System,
    readonly mode: OutputMode,
  ) {
    this.#out = openStream(system, system.stdout, mode);
    this.#err = openStream(system, system.stderr, mode);
  }

  /** Prints the service's answer, or one composed of several. */
  async answer(value: unknown, shape: Shape = {}): Promise<void> {
    const { terminal, paint } = await this.#out;
    const items = findItems(value, shape);
    if (this.mode.ndjson) return this.items(items ?? [value]);
    if (this.mode.json) return this.line(toJson(value ?? {}, terminal ? 2 : undefined));
    if (value === undefined) return;
    if (shape.only) return this.line(stripControls(formatCell(readField(value, shape.only))));
    if (items) return this.#table(items, shape.columns);
    const rows = listFields(value).filter(([, text]) => text !== '');
    if (!terminal) return this.#lines(rows.map((row) => row.map(formatField).join('\t')));
    await this.#lines(
      await alignColumns(rows.map(([name, text]) => [paint.bold(oneLine(name)), stripControls(text)])),
    );
  }

  /** Prints items as JSON, one a line. */
  async items(items: readonly unknown[]): Promise<void> {
    await this.#lines(items.map((item) => toJson(item)));
  }

  async #table(items: readonly unknown[], columns?: readonly string[]): Promise<void> {
    const { terminal, paint } = await this.#out;
    const names = columns ?? [...new Set(items.flatMap((item) => listFields(item).map(([name]) => name)))];
    const rowsOf = (shown: readonly string[]) =>
      items.map((item) => shown.map((name) => formatCell(readField(item, name))));
    if (items.length === 0) return this.note('Nothing to list.');
    if (!terminal) return this.#lines(rowsOf(names).map((row) => row.map(formatField).join('\t')));
    // A person needs no column that says nothing.
    const told = names.filter((name) => items.some((item) => formatCell(readField(item, name)) !== ''));
    const header = told.map((name) => paint.bold(oneLine(name.split('.').at(-1) ?? '').toUpperCase()));
    await this.#lines(
      await alignColumns(
        [header, ...rowsOf(told).map((row) => row.map(oneLine))],
        this.system.stdout.columns,
      ),
    );
  }

  /** One line of the answer. */
  async line(text: string): Promise<void> {
    await this.#lines([text]);
  }

  async #lines(lines: readonly string[]): Promise<void> {
    if (lines.length > 0) await this.write(`${lines.join('\n')}\n`);
  }

  /** Bytes of the answer, as they are. Waits while the reader is slow. */
  async write(chunk: string | Uint8Array): Promise<void> {
    this.#written = this.#written.then(() => this.#above(this.system.stdout, chunk));
    await this.#written;
  }

  /** A line for people. */
  async note(text: string): Promise<void> {
    if (!this.mode.quiet) await this.#say(stripControls(text));
  }

  /** Lines that a person cannot go on without, so that not even `--quiet` keeps them back. */
  async tell(text: string): Promise<void> {
    await this.#say(stripControls(text));
  }

  async warn(text: string): Promise<void> {
    const { paint } = await this.#err;
    if (!this.mode.quiet) await this.#say(`${paint.yellow('warning:')} ${stripControls(text)}`);
  }

  /** A failure: what failed, then what to do, then each detail; with `--json` one object. */
  async failure(failure: Failure): Promise<void> {
    const { code, hint, status, requestId, details } = failure.facts;
    if (this.mode.json || this.mode.ndjson) {
      const error = { code, message: failure.message, hint, status, request_id: requestId, details };
      return this.#say(toJson({ error }));
    }
    const { paint } = await this.#err;
    await this.#say(`${paint.red('error:')} ${oneLine(failure.message)}`);
    // One thing that is wrong is the message already.
    const more = (details ?? []).filter(({ message }) => !failure.message.includes(message));
    for (const { path, message } of more) {
      await this.#say(`  ${paint.bold(oneLine(path))} ${oneLine(message)}`);
    }
    if (hint) await this.#say(`${paint.dim('hint:')} ${oneLine(hint)}`);
  }

  async #say(text: string): Promise<void> {
    await this.#above(this.system.stderr, `${text}\n`);
  }

  async #above(stream: Writable, chunk: string | Uint8Array): Promise<void> {
    this.spinner?.clear();
    await new Promise<void>((done) => stream.write(chunk, () => done()));
    this.spinner?.render();
  }
}

interface Stream {
  readonly terminal: boolean;
  readonly paint: ChalkInstance;
}

async function openStream(
  system: System,
  to: { readonly isTTY?: boolean },
  mode: OutputMode,
): Promise<Stream> {
  const { Chalk } = await import('chalk');
  return {
    terminal: to.isTTY === true,
    paint: new Chalk({ level: usesColour(system.env, to, mode) ? 1 : 0 }),
  };
}

/** https://no-color.org and https://force-color.org, each stream by itself. */
function usesColour(env: System['env'], to: { readonly isTTY?: boolean }, mode: OutputMode): boolean {
  if (mode.color === false || env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return to.isTTY === true && env.TERM !== 'dumb';
}

function findItems(value: unknown, shape: Shape): readonly unknown[] | undefined {
  const items = shape.items ? readField(value, shape.items) : value;
  return Array.isArray(items) ? items : undefined;
}

/**
 * Columns as wide as their widest cell on a screen, the last one free.
 * @param columns of the screen: where a row would be wider, the widest columns of prose are cut
 */
async function alignColumns(rows: readonly (readonly string[])[], columns?: number): Promise<string[]> {
  const { default: width } = await import('string-width');
  const widths: number[] = [];
  const prose: boolean[] = [];
  for (const row of rows) {
    for (const [index, text] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, width(text));
      prose[index] ||= text.includes(' ');
    }
  }
  const cut = columns ? narrowColumns(widths, prose, columns) : widths;
  const padded = (text: string, room: number) =>
    width(text) <= room ? text + ' '.repeat(room - width(text)) : shortenCell(text, room, width);
  return rows.map((row) =>
    row
      .map((text, index) => padded(text, cut[index] ?? 0))
      .join(gap)
      .trimEnd(),
  );
}

const gap = '  ';
/** Below this, prose says too little. */
const leastColumn = 24;

/**
 * The widest columns of prose made as wide as each other, until all fit or none can be cut any more. An id, a date or
 * a URL is of no use in part: it stays whole, though its row be too wide.
 */
function narrowColumns(widths: readonly number[], prose: readonly boolean[], columns: number): number[] {
  const cut = (most: number) => widths.map((width, index) => (prose[index] ? Math.min(width, most) : width));
  const total = (most: number) => cut(most).reduce((sum, width) => sum + width + gap.length, 0);
  let most = Math.max(...widths);
  while (most > leastColumn && total(most) - gap.length > columns) most--;
  return cut(most);
}

function shortenCell(text: string, room: number, width: (text: string) => number): string {
  let kept = '';
  let used = 0;
  for (const character of text) {
    used += width(character);
    if (used > room - 1) break;
    kept += character;
  }
  return `${kept}…${' '.repeat(Math.max(0, room - 1 - width(kept)))}`;
} /** What a command shows of an answer. */
export interface Shape {
  /** The response field that holds the list; absent where the answer is the list, or one object. */
  readonly items?: string;
  /** Fields shown of each item; dotted for nested ones. */
  readonly columns?: readonly string[];
  /** The one field that is the whole answer, as of a token just made. */
  readonly only?: string;
}
