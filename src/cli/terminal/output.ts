import type { Writable } from 'node:stream';
import { Message, type Names, type Part, render, type Text } from '../../contract/schema/message.js';
import { type Failure, formatDetail, usage } from './failure.js';
import type { JsonFilter } from './json-filter.js';
import { findItems, formatCell, joinFields, listFields, listPaths, readField, type Shape } from './rows.js';
import type { SecretMask } from './secret-mask.js';
import type { System } from './system.js';
import type { Paint } from './table.js';
import {
  formatCsvCell,
  formatField,
  isAccessible,
  oneLine,
  stripControls,
  toJson,
  toLocale,
  withoutPeriod,
} from './text.js';
import type { Line } from './width.js';

export interface OutputMode {
  readonly json?: boolean | undefined;
  readonly ndjson?: boolean | undefined;
  readonly filter?: JsonFilter | undefined;
  /** The fields to show instead of those that the command shows. */
  readonly columns?: readonly string[] | undefined;
  readonly quiet?: boolean | undefined;
  /** `false` turns colour off. */
  readonly color?: boolean;
  /** `false` turns the pager off. */
  readonly pager?: boolean;
  /**
   * Finds how the commands in a message are written, so that they can be run as they are.
   * @param dir the folder of the pack that the message is about; absent: the only one that was given
   */
  readonly findNames?: ((dir?: string) => Promise<Names>) | undefined;
}

/** The two streams: answers on stdout, messages for people on stderr. */
export class Output {
  readonly #out: Promise<Stream>;
  readonly #err: Promise<Stream>;
  #written: Promise<void> = Promise.resolve();
  #isStream = false;
  /** Whether a pager has the screen: Ctrl-C is then meant for it. */
  isPaging = false;
  /** The spinner below the printed lines. */
  spinner: { clear(): void; render(): void } | undefined;

  constructor(
    readonly system: System,
    readonly mode: OutputMode,
    /** What neither stream shows. */
    readonly secrets?: SecretMask,
  ) {
    this.#out = openStream(system, system.stdout, mode);
    this.#err = openStream(system, system.stderr, mode);
  }

  /** Prints a response of the service, or one composed of several. */
  async answer(value: unknown, shape: Shape = {}): Promise<void> {
    const { terminal, paint } = await this.#out;
    const items = findItems(value, shape);
    if (this.mode.ndjson) return this.items(items ?? [value]);
    if (this.mode.filter) return this.#filtered(value);
    if (this.mode.json) return this.line(toJson(value ?? {}, terminal ? 2 : undefined));
    if (value === undefined) return;
    if (shape.only) return this.line(stripControls(formatCell(readField(value, shape.only))));
    if (items) return this.#table(items, this.#choose(shape, items));
    if (this.mode.columns) return this.answer([value], { columns: this.mode.columns });
    if (terminal) {
      const { layOutRecord } = await import('./table.js');
      return this.#page(layOutRecord(value, { ...this.#screen(), paint }));
    }
    const rows = listFields(value).filter(([, text]) => text !== '');
    await this.#lines(rows.map((row) => row.map(formatField).join('\t')));
  }

  async items(items: readonly unknown[]): Promise<void> {
    if (this.mode.filter) for (const item of items) await this.#filtered(item);
    else await this.#lines(items.map((item) => toJson(item)));
  }

  async #filtered(value: unknown): Promise<void> {
    const { terminal } = await this.#out;
    const text = this.mode.filter?.(value, terminal && !this.mode.ndjson).replace(/\n$/, '');
    // A pipe gets the text as it is; a terminal must not be controlled by it.
    if (text) await this.line(terminal ? stripControls(text) : text);
  }

  /** @throws Failure if no item has a field of `--columns` */
  #choose(shape: Shape, items: readonly unknown[]): Shape {
    const { columns } = this.mode;
    if (!columns) return shape;
    const known = [...new Set([...(shape.columns ?? []), ...items.flatMap(listPaths)])];
    const wrong = columns.filter((name) => !known.includes(name));
    if (wrong.length === 0 || items.length === 0) return { ...shape, columns, less: [], joined: [] };
    throw usage(`There is no column ${wrong.join(', ')}.`, `Columns: ${known.join(', ')}.`);
  }

  async csv(value: unknown, shape: Shape): Promise<void> {
    const fields = shape.columns ?? [];
    const rows = (findItems(value, shape) ?? []).map((item) =>
      fields.map((name) => formatCell(readField(item, name))),
    );
    await this.#lines([fields, ...rows].map((row) => row.map(formatCsvCell).join(',')));
  }

  async #table(
    items: readonly unknown[],
    { columns, less = [], ids = [], joined = [], none = 'Nothing to list.' }: Shape,
  ): Promise<void> {
    const { terminal, paint } = await this.#out;
    const fields = columns ?? [...new Set(items.flatMap((item) => listFields(item).map(([name]) => name)))];
    if (items.length === 0) return this.note(none);
    if (!terminal) {
      const rows = items.map((item) => fields.map((name) => formatField(formatCell(readField(item, name)))));
      return this.#lines(rows.map((row) => row.join('\t')));
    }
    const { layOutTable } = await import('./table.js');
    const shown = joined.length > 0 ? items.map((item) => joinFields(item, joined)) : items;
    const own = fields.filter((field) => !joined.slice(1).includes(field));
    const screen = { ...this.#screen(), paint };
    const { lines, hidden } = layOutTable(shown, { fields: own, less, ids }, screen);
    await this.#page(lines);
    if (hidden.length > 0) {
      await this.note(
        `Hidden: ${hidden.join(', ').toLowerCase()}. Choose columns with --columns, or use a wider terminal.`,
      );
    }
  }

  #screen() {
    // A terminal without a size has 0 columns.
    const { stdout, env, now } = this.system;
    const columns = stdout.columns || Number.POSITIVE_INFINITY;
    return { columns, now: now(), isAccessible: isAccessible(env) };
  }

  /** Prints lines on a terminal, in a pager if they do not fit. */
  async #page(lines: readonly string[]): Promise<void> {
    const { rows } = this.system.stdout;
    if (!rows || lines.length < rows || this.mode.pager === false) return this.#lines(lines);
    const { showInPager } = await import('./pager.js');
    this.isPaging = true;
    const isShown = await showInPager(this.system, this.#hideTyped(`${lines.join('\n')}\n`));
    this.isPaging = false;
    if (!isShown) await this.#lines(lines);
  }

  async line(text: string): Promise<void> {
    await this.#lines([text]);
  }

  async #lines(lines: readonly string[]): Promise<void> {
    if (lines.length > 0) await this.write(`${lines.join('\n')}\n`);
  }

  /** Writes bytes of the answer unchanged. Waits while the reader is slow. */
  async write(given: string | Uint8Array): Promise<void> {
    const chunk = typeof given === 'string' ? this.#hideTyped(given) : given;
    this.#written = this.#written.then(() => this.#above(this.system.stdout, chunk));
    await this.#written;
  }

  /** Whether stderr is for a program, which reads one JSON object there if the command fails. */
  get isForProgram(): boolean {
    return this.mode.json === true && !this.mode.ndjson && !this.#isStream && !this.system.stderr.isTTY;
  }

  /** Whether people read the answer on a terminal, as a table or a card. */
  get isTable(): boolean {
    return this.system.stdout.isTTY === true && !this.mode.json && !this.mode.ndjson;
  }

  /** Results come one by one until the command ends, and progress is reported beside them. */
  beginStream(): void {
    this.#isStream = true;
  }

  /** Whether nothing but errors is printed for people. */
  get isQuiet(): boolean {
    return this.mode.quiet === true || this.isForProgram;
  }

  async note(...lines: readonly Text[]): Promise<void> {
    if (!this.isQuiet) await this.tell(...lines);
  }

  /** Prints lines that the user needs to continue, even with `--quiet`. */
  async tell(...lines: readonly Text[]): Promise<void> {
    const written = await Promise.all(lines.map((line) => this.#write(line, toLine)));
    const [only] = written;
    await this.#say(only && written.length === 1 ? only : written.map(formatLine).join('\n'));
  }

  /** Writes a text with the commands of this command line in it, for an answer. */
  async render(text: Text): Promise<string> {
    return render(text, await this.mode.findNames?.());
  }

  async warn(text: Text): Promise<void> {
    const { paint } = await this.#err;
    if (!this.isQuiet) await this.#say(await this.#write(text, toLine, paint.magenta('warning:')));
  }

  /**
   * Writes a text for this command line. A command at its end is kept apart, so that it can be copied.
   * @param lead written in front of it
   */
  async #write(text: Text, clean: (text: string) => string, lead = ''): Promise<Line> {
    const begin = (prose: string) => [lead, prose].filter(Boolean).join(' ');
    if (typeof text === 'string') return { prose: begin(clean(text)) };
    const names = await this.mode.findNames?.();
    const last = text.parts.findLastIndex((part) => part !== '');
    const write = (parts: readonly Part[]) => clean(render(new Message(parts), names));
    const command = text.parts[last];
    if (typeof command !== 'object' || !('command' in command)) return { prose: begin(write(text.parts)) };
    return { prose: begin(write(text.parts.slice(0, last)).trimEnd()), command: write([command]) };
  }

  /** Prints a failure: what failed, each detail, then the hint; with `--json` as one object. */
  async failure(failure: Failure): Promise<void> {
    const { code, status, requestId, details } = failure.facts;
    const { text, facts } = failure;
    this.system.onFailure?.(failure);
    const isPlain = [text, facts.hint, ...(details ?? []).map(({ message }) => message)].every(
      (one = '') => typeof one === 'string',
    );
    const names = isPlain ? undefined : await this.mode.findNames?.();
    const message = render(text, names);
    const listed = details?.map((one) => ({ path: one.path, message: render(one.message, names) }));
    if (this.mode.json || this.mode.ndjson) {
      const hint = facts.hint && render(facts.hint, names);
      const error = { code, message, hint, status, request_id: requestId, details: listed };
      return this.#say(toJson({ error }));
    }
    const { paint } = await this.#err;
    // An answer of the user is not an error to them.
    await this.#say(code === 'declined' ? oneLine(message) : `${paint.red('error:')} ${oneLine(message)}`);
    // A single problem is already in the message.
    const more = (listed ?? []).filter((one) => !message.includes(withoutPeriod(one.message)));
    for (const one of more) {
      const detail = { path: oneLine(one.path), message: oneLine(one.message) };
      await this.#say(`  ${formatDetail(detail, (text) => paint.bold(text))}`);
    }
    if (facts.hint) await this.#say(await this.#write(facts.hint, oneLine, paint.dim('hint:')));
  }

  #hideTyped(text: string): string {
    return this.secrets?.maskTyped(text) ?? text;
  }

  /** Masks the secrets in a text for people. */
  mask(text: string): string {
    return this.secrets?.mask(text) ?? text;
  }

  async #say(given: string | Line): Promise<void> {
    const { prose, command } = typeof given === 'string' ? { prose: given, command: undefined } : given;
    const line = { prose: this.mask(prose), ...(command && { command: this.mask(command) }) };
    const text = formatLine(line);
    const { isTTY, columns } = this.system.stderr;
    // A character may take two columns.
    const isWide = isTTY && columns && text.length * 2 > columns && this.mode.json !== true;
    const shown = isWide ? (await import('./width.js')).wrapMessage(text, line, columns) : text;
    await this.#above(this.system.stderr, `${shown}\n`);
  }

  async #above(stream: Writable, chunk: string | Uint8Array): Promise<void> {
    this.spinner?.clear();
    const { isTTY } = stream as { readonly isTTY?: boolean };
    const shown = isTTY && typeof chunk === 'string' ? toLocale(this.system.env, chunk) : chunk;
    await new Promise<void>((done) => stream.write(shown, () => done()));
    this.spinner?.render();
  }
}

/** Makes one line of a message: text of a service in it could look like another message. */
function toLine(text: string): string {
  const [first = '', ...more] = text.split('\n');
  return stripControls([first.trimEnd(), ...more.map((line) => line.trim())].filter(Boolean).join(' '));
}

function formatLine({ prose, command }: Line): string {
  return [prose, command].filter(Boolean).join(' ');
}

interface Stream {
  readonly terminal: boolean;
  readonly paint: Paint;
}

async function openStream(
  system: System,
  to: { readonly isTTY?: boolean },
  mode: OutputMode,
): Promise<Stream> {
  const paint = usesColour(system.env, to, mode) ? new (await import('chalk')).Chalk({ level: 1 }) : PLAIN;
  return { terminal: to.isTTY === true, paint };
}

const keepText = (text: string) => text;
const PLAIN: Paint = { bold: keepText, dim: keepText, red: keepText, magenta: keepText, green: keepText };

/** Follows https://no-color.org and https://force-color.org, for each stream separately. */
function usesColour(env: System['env'], to: { readonly isTTY?: boolean }, mode: OutputMode): boolean {
  if (mode.color === false || env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return to.isTTY === true && env.TERM !== 'dumb';
}
