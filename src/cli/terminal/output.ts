import type { Writable } from 'node:stream';
import type { Failure } from './failure.js';
import { formatCell, listFields, readField } from './rows.js';
import type { System } from './system.js';
import { formatField, oneLine, stripControls, toJson } from './text.js';

export interface OutputMode {
  readonly json?: boolean | undefined;
  readonly ndjson?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  /** `false` turns colour off. */
  readonly color?: boolean;
}

/** The two streams: answers on stdout, messages for people on stderr. */
export class Output {
  readonly #out: Promise<Stream>;
  readonly #err: Promise<Stream>;
  #written: Promise<void> = Promise.resolve();
  /** The spinner below the printed lines. */
  spinner: { clear(): void; render(): void } | undefined;

  constructor(
    readonly system: System,
    readonly mode: OutputMode,
  ) {
    this.#out = openStream(system, system.stdout, mode);
    this.#err = openStream(system, system.stderr, mode);
  }

  /** Prints a response of the service, or one composed of several. */
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

  /** Prints items as JSON, one per line. */
  async items(items: readonly unknown[]): Promise<void> {
    await this.#lines(items.map((item) => toJson(item)));
  }

  async #table(items: readonly unknown[], columns?: readonly string[]): Promise<void> {
    const { terminal, paint } = await this.#out;
    const names = columns ?? [...new Set(items.flatMap((item) => listFields(item).map(([name]) => name)))];
    const toRows = (fields: readonly string[]) =>
      items.map((item) => fields.map((name) => formatCell(readField(item, name))));
    if (items.length === 0) return this.note('Nothing to list.');
    if (!terminal) return this.#lines(toRows(names).map((row) => row.map(formatField).join('\t')));
    // Empty columns are left out on a terminal.
    const shown = names.filter((name) => items.some((item) => formatCell(readField(item, name)) !== ''));
    const header = shown.map((name) => paint.bold(oneLine(name.split('.').at(-1) ?? '').toUpperCase()));
    await this.#lines(
      await alignColumns(
        [header, ...toRows(shown).map((row) => row.map(oneLine))],
        this.system.stdout.columns,
      ),
    );
  }

  /** Prints one line of the answer. */
  async line(text: string): Promise<void> {
    await this.#lines([text]);
  }

  async #lines(lines: readonly string[]): Promise<void> {
    if (lines.length > 0) await this.write(`${lines.join('\n')}\n`);
  }

  /** Writes bytes of the answer unchanged. Waits while the reader is slow. */
  async write(chunk: string | Uint8Array): Promise<void> {
    this.#written = this.#written.then(() => this.#above(this.system.stdout, chunk));
    await this.#written;
  }

  /** Prints a line for people. */
  async note(text: string): Promise<void> {
    if (!this.mode.quiet) await this.#say(stripControls(text));
  }

  /** Prints lines that the user needs to continue, even with `--quiet`. */
  async tell(text: string): Promise<void> {
    await this.#say(stripControls(text));
  }

  async warn(text: string): Promise<void> {
    const { paint } = await this.#err;
    if (!this.mode.quiet) await this.#say(`${paint.yellow('warning:')} ${stripControls(text)}`);
  }

  /** Prints a failure: what failed, each detail, then the hint; with `--json` as one object. */
  async failure(failure: Failure): Promise<void> {
    const { code, hint, status, requestId, details } = failure.facts;
    if (this.mode.json || this.mode.ndjson) {
      const error = { code, message: failure.message, hint, status, request_id: requestId, details };
      return this.#say(toJson({ error }));
    }
    const { paint } = await this.#err;
    await this.#say(`${paint.red('error:')} ${oneLine(failure.message)}`);
    // A single problem is already in the message.
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
  readonly paint: Paint;
}

type Paint = Readonly<Record<'bold' | 'dim' | 'red' | 'yellow', (text: string) => string>>;

async function openStream(
  system: System,
  to: { readonly isTTY?: boolean },
  mode: OutputMode,
): Promise<Stream> {
  const paint = usesColour(system.env, to, mode) ? new (await import('chalk')).Chalk({ level: 1 }) : PLAIN;
  return { terminal: to.isTTY === true, paint };
}

const keep = (text: string) => text;
const PLAIN: Paint = { bold: keep, dim: keep, red: keep, yellow: keep };

/** Follows https://no-color.org and https://force-color.org, for each stream separately. */
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
 * Pads each column to the width of its widest cell, except the last one.
 * @param columns the width of the screen; if rows are wider, the widest columns of prose are shortened
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
      .join(COLUMN_GAP)
      .trimEnd(),
  );
}

const COLUMN_GAP = '  ';
/** Narrower prose is not useful. */
const MIN_PROSE_WIDTH = 24;

/**
 * Limits the width of prose columns until rows fit or the minimum is reached. Ids, dates and URLs are useless in part,
 * so they stay whole even if the row is too wide.
 */
function narrowColumns(widths: readonly number[], prose: readonly boolean[], columns: number): number[] {
  const cut = (max: number) => widths.map((width, index) => (prose[index] ? Math.min(width, max) : width));
  const total = (max: number) => cut(max).reduce((sum, width) => sum + width + COLUMN_GAP.length, 0);
  let max = Math.max(...widths);
  while (max > MIN_PROSE_WIDTH && total(max) - COLUMN_GAP.length > columns) max--;
  return cut(max);
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
}

/** Which parts of an answer a command shows. */
export interface Shape {
  /** The response field with the list. Absent: the answer itself is the list, or one object. */
  readonly items?: string;
  /** The fields shown for each item; nested ones are dotted. */
  readonly columns?: readonly string[];
  /** The only field to show, such as a new token. */
  readonly only?: string;
}
