import { readFileSync } from 'node:fs';

// A fact is a line that is true of the interface: `image.relight body style: one of standard, clean`.

/** A line of the table about a field. */
export interface TableRow {
  readonly part: string;
  readonly field: string;
  readonly type: string;
  readonly facts: readonly string[];
}

/** An operation, resource or shape of the table with its lines. */
export interface TableBlock {
  readonly kind: 'operation' | 'resource' | 'shape';
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly who?: string;
  readonly rows: readonly TableRow[];
  readonly rules: readonly string[];
}

const readLines = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8').split('\n');
const isFact = (line: string) => line.trim() !== '' && !line.startsWith('#');

/** Reads what the service description lists. */
export function readTable(): TableBlock[] {
  const blocks: (TableBlock & { rows: TableRow[]; rules: string[] })[] = [];
  for (const line of readLines('service-table.txt').filter(isFact)) {
    if (!line.startsWith(' ')) blocks.push({ ...parseHeading(line), rows: [], rules: [] });
    else if (line.startsWith('  rule')) blocks.at(-1)?.rules.push(line.replace('  rule', '').trim());
    else blocks.at(-1)?.rows.push(parseRow(line));
  }
  return blocks;
}

function parseHeading(line: string): Omit<TableBlock, 'rows' | 'rules'> {
  const [first, ...rest] = line.split(/ {2,}/) as [string, ...string[]];
  const [kind, name] = first.split(' ') as [TableBlock['kind'], string];
  if (kind !== 'operation') return { kind, name };
  const [place, who] = rest as [string, string];
  const [method, path] = place.split(' ') as [string, string];
  return { kind, name, method, path, who };
}

function parseRow(line: string): TableRow {
  const [said] = line.trim().split(/ {2,}-- /) as [string];
  const [part, field, type, facts = ''] = said.split(/ {2,}/) as [string, string, string, string?];
  return { part, field, type, facts: facts.split('; ').filter(Boolean) };
}

export interface Additions {
  readonly facts: ReadonlySet<string>;
  /** Facts of the table that do not apply. */
  readonly departures: ReadonlySet<string>;
}

/** Reads where the contract goes beyond the table, or departs from it. */
export function readAdditions(): Additions {
  const lines = readLines('service-additions.txt').filter(isFact);
  const of = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  return {
    departures: new Set(of('departure')),
    facts: new Set(lines.filter((line) => !/^departure /.test(line))),
  };
}

/**
 * Lists the facts of the table.
 * @param known more facts of resources and shapes, which apply wherever these are used
 */
export function listTableFacts(blocks: readonly TableBlock[], known: ReadonlySet<string>): Set<string> {
  const facts = new Set<string>();
  for (const block of blocks) {
    if (block.kind === 'shape') continue;
    if (block.kind === 'operation') facts.add(`${block.name} ${block.method} ${block.path}`);
    if (block.who === 'bearer') facts.add(`${block.name} who: bearer`);
    for (const rule of block.rules) facts.add(`${block.name} rule: ${rule}`);
    for (const fact of block.rows.flatMap((row) => listRowFacts(row, blocks, known))) {
      facts.add(`${block.name} ${fact}`);
    }
  }
  return facts;
}

function listRowFacts(row: TableRow, blocks: readonly TableBlock[], known: ReadonlySet<string>): string[] {
  const { part, field, type, facts } = row;
  const own = facts.map((fact) => `${part} ${field}: ${fact}`);
  if (!type.startsWith('= ')) return [`${part} ${field}: ${type}`, ...own];
  const name = type.slice(2);
  const block = blocks.find((one) => one.name === name);
  if (!block) throw new Error(`The table has no ${name}, which ${field} refers to.`);
  const said = block.rows.flatMap((inner) => listRowFacts(inner, blocks, known));
  const added = [...known]
    .filter((fact) => fact.startsWith(`${name} `))
    .map((fact) => fact.slice(name.length + 1));
  const rules = block.rules.map((rule) => `rule: ${rule}`);
  const prefix = field === '.' ? `${part} ` : `${part} ${field}.`;
  const here = [...said, ...added, ...rules].map((fact) => fact.replace(/^field /, prefix));
  return [...(field === '.' ? [] : [`${part} ${field}: object`]), ...own, ...here];
}
