import { createReadStream, createWriteStream, type ReadStream } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isRecord, parseJson } from '../../contract/json.js';
import { MAX_GIVEN_BYTES, openFolderFile } from '../../disk/folder-file.js';
import { type ParsedCommand, readText } from '../command/command.js';
import { usage } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import { formatCount } from '../terminal/text.js';

/** The file with the jobs. It is read more than once, and never as a whole. */
export interface JobsFile {
  readonly path: string;
  /** For messages. */
  readonly name: string;
  readonly format: 'jsonl' | 'csv';
  readonly state: string;
}

export type JobLine = { readonly line: number } & (
  | { readonly record: Readonly<Record<string, unknown>> }
  | { readonly problem: string }
);

/** Larger than any row of a spreadsheet; the parser is too slow for more. */
const MAX_RECORD_BYTES = 16 * 1024 ** 2;

/** Opens the file that the command names. Standard input is copied into `scratch` first. */
export async function openJobsFile(
  { args, flags }: ParsedCommand,
  system: Pick<System, 'cwd' | 'stdin'>,
  scratch: string,
): Promise<JobsFile> {
  const given = args.jobs as string;
  const state = readText(flags, 'state');
  if (given !== '-') {
    const path = resolve(system.cwd, given);
    const format = /\.csv$/i.test(path) ? 'csv' : 'jsonl';
    return { path, name: basename(path), format, state: resolve(system.cwd, state ?? `${given}.state`) };
  }
  if (state === undefined) {
    throw usage('Jobs from standard input require --state <file>, so that they can be resumed.');
  }
  const path = join(scratch, 'jobs');
  await pipeline(system.stdin, createWriteStream(path));
  const format = (await readStart(path)).startsWith('{') ? 'jsonl' : 'csv';
  return { path, name: 'standard input', format, state: resolve(system.cwd, state) };
}

/** Reads the first line with content, or the beginning of a long one. */
async function readStart(path: string): Promise<string> {
  for await (const part of openStream(path, { encoding: 'utf8', end: 10_000 })) {
    return (part as string).trimStart().split('\n', 1)[0] as string;
  }
  return '';
}

/** @throws Failure if a CSV has a column twice */
export function readJobLines(file: JobsFile): AsyncGenerator<JobLine> {
  return file.format === 'csv' ? readCsvLines(file) : readJsonLines(file.path);
}

async function* readJsonLines(path: string): AsyncGenerator<JobLine> {
  let line = 0;
  for await (const text of readLines(path)) {
    line += 1;
    const trimmed = text.trim();
    if (trimmed !== '') yield { line, ...parseJsonLine(trimmed) };
  }
}

async function* readLines(path: string): AsyncGenerator<string> {
  let parts: string[] = [];
  let length = 0;
  for await (const text of openStream(path, { encoding: 'utf8' })) {
    const [end = '', ...others] = (text as string).split('\n');
    parts.push(end);
    length += end.length;
    if (length > MAX_GIVEN_BYTES) throw usage(`${path} has a line of more than 256 MiB.`);
    for (const line of others) {
      yield parts.join('');
      parts = [line];
      length = line.length;
    }
  }
  yield parts.join('');
}

/** Opens the file again. It may have been replaced by a pipe, which never ends. */
function openStream(path: string, options: { encoding?: 'utf8'; end?: number } = {}): ReadStream {
  return createReadStream(path, { ...options, start: 0, fd: openFolderFile(path).descriptor });
}

function parseJsonLine(text: string): { record: Record<string, unknown> } | { problem: string } {
  try {
    const record: unknown = JSON.parse(text);
    if (isRecord(record)) return { record };
  } catch (error) {
    // The parser may quote megabytes of an image.
    return { problem: `is not valid JSON: ${(error as Error).message.slice(0, 120)}` };
  }
  return { problem: 'must be one JSON object, such as {"command": "image relight", "image": "a.jpg"}' };
}

/**
 * Decided: an empty cell means that the value is absent; a list is written as JSON. The names in the first line contain
 * no separator, so the first one in it is that of the file: spreadsheets write semicolons where numbers have commas.
 */
async function* readCsvLines({ path, name }: JobsFile): AsyncGenerator<JobLine> {
  const { parse } = await import('csv-parse');
  const [delimiter = ','] = /[,;]/.exec(await readStart(path)) ?? [];
  const layout = {
    bom: true,
    columns: (names: string[]) => requireDistinct(names, name),
    // Rows may have been appended by a program with other line ends.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    trim: true,
    max_record_size: MAX_RECORD_BYTES,
  };
  const parser = parse({ ...layout, delimiter, info: true });
  const reading = pipeline(openStream(path), parser);
  try {
    for await (const { info, record } of parser as AsyncIterable<CsvRow>) {
      yield { line: info.lines, record: readCells(record) };
    }
    await reading;
  } catch (error) {
    const { lines, message, code, record } = error as CsvError;
    reading.catch(() => undefined);
    if (!code?.startsWith('CSV_')) throw error;
    const problem =
      code === 'CSV_RECORD_INCONSISTENT_COLUMNS' && record
        ? `has ${formatCount(record.length, 'cell')}, not one for each name in the first line`
        : `is not valid CSV: ${message}`;
    yield { line: lines ?? 0, problem };
  }
}

/** Of two columns with one name, only the last would count. Those without a name are remarks. */
function requireDistinct(names: string[], file: string): string[] {
  const twice = names.find((name, at) => name !== '' && names.indexOf(name) < at);
  if (twice === undefined) return names;
  throw usage(
    `${file} has the column "${twice}" twice; nothing was sent.`,
    `The values of a list have a column each, such as "${twice}.0" and "${twice}.1".`,
  );
}

type CsvError = Error & {
  readonly lines?: number;
  readonly code?: string;
  readonly record?: readonly string[];
};

interface CsvRow {
  readonly info: { readonly lines: number };
  readonly record: Readonly<Record<string, string>>;
}

function readCells(record: CsvRow['record']): Record<string, unknown> {
  const cells = Object.entries(record).filter(([name, cell]) => name !== '' && cell !== '');
  return Object.fromEntries(
    cells.map(([name, cell]) => [name, cell.startsWith('[') ? parseJson(cell, cell) : cell]),
  );
}
