import {
  type Cell,
  formatHeadings,
  formatLabel,
  listShownFields,
  presentCell,
  presentField,
  shortenIds,
  type Tone,
} from './cells.js';
import { formatCell, readField } from './rows.js';
import { stripControls } from './text.js';
import { createPadding, cutText, measureWidth, wrapText } from './width.js';

export type Paint = Readonly<Record<'bold' | 'dim' | 'red' | 'magenta' | 'green', (text: string) => string>>;

/** The screen that a listing is for. */
interface Screen {
  /** Infinite if it is not known. */
  readonly columns: number;
  readonly now: number;
  readonly paint: Paint;
  /** For screen readers, which read lines: each item is a block. */
  readonly isAccessible?: boolean;
}

export interface TableFields {
  readonly fields: readonly string[];
  /** The fields that a narrow screen has no room for, the first to go first. */
  readonly less: readonly string[];
  /** The fields whose ids are shortened, because commands accept the beginning of an id. */
  readonly ids: readonly string[];
}

export interface Listing {
  readonly lines: readonly string[];
  readonly hidden: readonly string[];
}

interface Column {
  readonly heading: string;
  readonly field: string;
  readonly cells: readonly Cell[];
  readonly isProse: boolean;
  readonly width: number;
}

const GAP = '  ';
/** How many characters of a listing are shown, and of each text even after that. */
const MAX_LISTING_LENGTH = 200_000;
const MIN_SHOWN_LENGTH = 100;
const MAX_CELL_LENGTH = 2_000;
const MAX_NAME_LENGTH = 200;
/** Narrower prose is not useful. */
const MIN_PROSE_WIDTH = 24;
const PAINTS: Readonly<Record<Tone, keyof Paint>> = { good: 'green', busy: 'magenta', bad: 'red' };

/**
 * Lays out items as a table that fits the screen: prose is narrowed and wrapped, then less important columns are
 * hidden. If it still does not fit, each item is a block of lines.
 */
export function layOutTable(items: readonly unknown[], table: TableFields, screen: Screen): Listing {
  const all = readColumns(items, table, screen.now);
  const columns = [...all];
  const isTooWide = () => sumWidths(columns.map(findMinWidth)) > screen.columns;
  for (const field of table.less) {
    const at = columns.findIndex((column) => column.field === field);
    if (at >= 0 && isTooWide()) columns.splice(at, 1);
  }
  if (screen.isAccessible || isTooWide())
    return { lines: layOutBlocks(items.length, all, screen), hidden: [] };
  const hidden = all.filter((column) => !columns.includes(column)).map(({ heading }) => heading);
  return { lines: layOutRows(items.length, columns, table, screen), hidden };
}

function readColumns(items: readonly unknown[], { fields, ids }: TableFields, now: number): Column[] {
  const limit = createLimit();
  const headings = formatHeadings(fields).map((heading) => limit(heading, MAX_NAME_LENGTH));
  const columns = fields.map((field, index) => {
    const texts = items.map((item) => formatCell(readField(item, field)));
    const short = ids.includes(field) ? shortenIds(texts) : new Map<string, string>();
    const cells = items.map((item, row) => {
      const id = short.get(texts[row] as string);
      if (id !== undefined) return { text: id };
      const cell = presentCell(field, readField(item, field), now);
      return { ...cell, text: limit(cell.text, MAX_CELL_LENGTH) };
    });
    const heading = headings[index] as string;
    // What has spaces in the answer itself; a relative time is as short as it can be.
    const isProse = texts.some((text) => text.includes(' '));
    const width = Math.max(...[heading, ...cells.map(({ text }) => text)].map(measureWidth));
    return { heading, field, cells, isProse, width };
  });
  // Empty columns are left out.
  return columns.filter(({ cells }) => cells.some(({ text }) => text !== ''));
}

/** Cuts the texts of a listing before they are laid out, which takes long: a service may answer with megabytes. */
function createLimit(): (text: string, most?: number) => string {
  let left = MAX_LISTING_LENGTH;
  return (text, most = MAX_LISTING_LENGTH) => {
    const length = Math.min(most, Math.max(left, MIN_SHOWN_LENGTH));
    left -= Math.min(text.length, length);
    return text.length > length ? `${text.slice(0, length)}…` : text;
  };
}

function findMinWidth({ isProse, width }: Column): number {
  return isProse ? Math.min(width, MIN_PROSE_WIDTH) : width;
}

function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, Math.max(0, widths.length - 1) * GAP.length);
}

function layOutRows(count: number, columns: readonly Column[], table: TableFields, screen: Screen): string[] {
  const { paint } = screen;
  const widths = narrowProse(columns, screen.columns);
  const header = columns.map(({ heading }, index) => [
    paint.bold(heading) + createPadding(heading, widths[index] as number),
  ]);
  const rows = Array.from({ length: count }, (_, row) => {
    const cells = columns.map(({ cells, field }, index) => {
      const { text, tone } = cells[row] as Cell;
      const width = widths[index] as number;
      const lines = table.less.includes(field) ? [cutText(text, width)] : wrapText(text, width);
      return lines.map((line) => paintTone(paint, tone, line) + createPadding(line, width));
    });
    return joinCells(cells, widths);
  });
  return [...joinCells(header, widths), ...rows.flat()];
}

function joinCells(cells: readonly (readonly string[])[], widths: readonly number[]): string[] {
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((lines, index) => lines[line] ?? ' '.repeat(widths[index] as number))
      .join(GAP)
      .trimEnd(),
  );
}

/** Narrows the widest prose until the rows fit. */
function narrowProse(columns: readonly Column[], screenWidth: number): number[] {
  const cut = (max: number) =>
    columns.map(({ isProse, width }) => (isProse ? Math.min(width, Math.max(max, MIN_PROSE_WIDTH)) : width));
  let max = Math.max(...columns.map(({ width }) => width));
  while (max > MIN_PROSE_WIDTH && sumWidths(cut(max)) > screenWidth) max--;
  return cut(max);
}

function layOutBlocks(count: number, columns: readonly Column[], screen: Screen): string[] {
  return Array.from({ length: count }, (_, row) => {
    const fields = columns.map(({ heading, cells }) => [heading, cells[row] as Cell] as const);
    const lines = layOutFields(
      fields.filter(([, { text }]) => text !== ''),
      screen,
    );
    return row === 0 ? lines : ['', ...lines];
  }).flat();
}

/** Lays out one object as a line per field, after a table of each field with a number for two names. */
export function layOutRecord(value: unknown, screen: Screen): string[] {
  const grids = Object.entries(value ?? {}).filter(([, inner]) => isGrid(inner));
  const tables = grids.flatMap(([name, rows]) => [...layOutGrid(name, rows, screen), '']);
  const names = grids.map(([name]) => name);
  const rest = Object.entries(value ?? {}).filter(([name]) => !names.includes(name));
  return [...tables, ...layOutFlat(names.length > 0 ? Object.fromEntries(rest) : value, screen)];
}

function isGrid(value: unknown): value is Record<string, Record<string, number>> {
  const rows = typeof value === 'object' && value !== null ? Object.values(value) : [];
  const isRow = (row: unknown) =>
    typeof row === 'object' && row !== null && Object.values(row).every((cell) => typeof cell === 'number');
  return rows.length > 1 && rows.every(isRow);
}

function layOutGrid(name: string, rows: Record<string, Record<string, number>>, screen: Screen): string[] {
  const columns = [...new Set(Object.values(rows).flatMap(Object.keys))];
  columns.sort((one, other) => readSize(one) - readSize(other));
  const label = formatLabel(name);
  const items = Object.entries(rows).map(([key, row]) => ({ [label]: key, ...row }));
  return [...layOutTable(items, { fields: [label, ...columns], less: [], ids: [] }, screen).lines];
}

/** 2K comes after 1080p. */
function readSize(name: string): number {
  return Number.parseInt(name, 10) * (name.endsWith('K') ? 1000 : 1);
}

function layOutFlat(value: unknown, screen: Screen): string[] {
  const limit = createLimit();
  const fields = listShownFields(value).map(([name, text]) => {
    const cell = presentField(name, stripControls(text), screen.now);
    return [limit(formatLabel(name), MAX_NAME_LENGTH), { ...cell, text: limit(cell.text) }] as const;
  });
  return layOutFields(fields, screen);
}

function layOutFields(fields: readonly (readonly [name: string, cell: Cell])[], screen: Screen): string[] {
  const { paint, columns } = screen;
  const indent = Math.max(0, ...fields.map(([name]) => measureWidth(name))) + GAP.length;
  // Where names leave too little room, values lie below them.
  const isLong = fields.some(([, { text }]) => measureWidth(text) > columns - indent);
  const isBelow = columns - indent < MIN_PROSE_WIDTH && isLong;
  const room = columns - (isBelow ? GAP.length : indent);
  return fields.flatMap(([name, { text, tone }]) => {
    // What is broken can be neither opened nor copied.
    const isWhole = COPIED.test(text) && text.length <= MAX_CELL_LENGTH;
    const lines = (isWhole ? [text] : wrapText(text, room)).map((line) => paintTone(paint, tone, line));
    if (isBelow)
      return [...wrapText(name, columns).map((line) => paint.bold(line)), ...lines.map((line) => GAP + line)];
    const label = paint.bold(name) + createPadding(name, indent);
    return lines.map((line, index) => (index === 0 ? label : ' '.repeat(indent)) + line);
  });
}

/** An address, a path or a digest. */
const COPIED = /^(?:https?:\/\/|\/|[A-Za-z]:\\)\S+$|^[0-9a-f]{64}$/;

function paintTone(paint: Paint, tone: Tone | undefined, text: string): string {
  return tone ? paint[PAINTS[tone]](text) : text;
}
