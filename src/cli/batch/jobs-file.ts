import { createReadStream, createWriteStream } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { type ParsedCommand, readText } from '../command/command.js';
import { usage } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';

/** Where the jobs stand: a file that is read more than once, never held whole. */
export interface JobsFile {
  readonly path: string;
  /** For people. */
  readonly name: string;
  readonly format: 'jsonl' | 'csv';
  /** Where its state is kept. */
  readonly state: string;
}

/** What stands in one line, or why it cannot be read. */
export type Line = { readonly line: number } & (
  | { readonly record: Readonly<Record<string, unknown>> }
  | { readonly problem: string }
);

/** The file that the command names; standard input is copied into `scratch` first. */
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
    throw usage('Jobs from standard input need --state <file>, to go on where they stopped.');
  }
  const path = join(scratch, 'jobs');
  await pipeline(system.stdin, createWriteStream(path));
  const format = (await firstCharacter(path)) === '{' ? 'jsonl' : 'csv';
  return { path, name: 'standard input', format, state: resolve(system.cwd, state) };
}

async function firstCharacter(path: string): Promise<string | undefined> {
  for await (const part of createReadStream(path, { encoding: 'utf8', end: 1000 })) {
    return (part as string).trimStart().at(0);
  }
  return undefined;
}

/** The lines of the file that hold something, as they are read. */
export function linesIn({ path, format }: JobsFile): AsyncGenerator<Line> {
  return format === 'csv' ? csvLines(path) : jsonLines(path);
}

async function* jsonLines(path: string): AsyncGenerator<Line> {
  const input = createReadStream(path, { encoding: 'utf8' });
  let line = 0;
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    const written = text.trim();
    if (written !== '') yield { line, ...recordIn(written) };
  }
}

function recordIn(text: string): { record: Record<string, unknown> } | { problem: string } {
  try {
    const record: unknown = JSON.parse(text);
    if (typeof record === 'object' && record !== null && !Array.isArray(record)) {
      return { record: record as Record<string, unknown> };
    }
  } catch (error) {
    // What the parser quotes may be megabytes of an image.
    return { problem: `is not valid JSON: ${(error as Error).message.slice(0, 120)}` };
  }
  return { problem: 'must be one JSON object, such as {"command": "image relight", "image": "a.jpg"}' };
}

/** Decided: an empty cell is a value that is not given; a list is written as JSON. */
async function* csvLines(path: string): AsyncGenerator<Line> {
  const { parse } = await import('csv-parse');
  const parser = parse({ bom: true, columns: true, info: true, skip_empty_lines: true, trim: true });
  const reading = pipeline(createReadStream(path), parser);
  try {
    for await (const { info, record } of parser as AsyncIterable<Row>) {
      yield { line: info.lines, record: readCells(record) };
    }
    await reading;
  } catch (error) {
    const { lines, message, code } = error as Error & { lines?: number; code?: string };
    reading.catch(() => undefined);
    if (!code?.startsWith('CSV_')) throw error;
    yield { line: lines ?? 0, problem: `is not valid CSV: ${message}` };
  }
}

interface Row {
  readonly info: { readonly lines: number };
  readonly record: Readonly<Record<string, string>>;
}

function readCells(record: Row['record']): Record<string, unknown> {
  const cells = Object.entries(record).filter(([name, cell]) => name !== '' && cell !== '');
  return Object.fromEntries(cells.map(([name, cell]) => [name, cell.startsWith('[') ? listIn(cell) : cell]));
}

function listIn(cell: string): unknown {
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}
