import { readFileSync } from 'node:fs';

// A fact is one line that is true of the interface: `image.relight body style: one of standard, clean`.

/** One line of the table about a field. */
export interface Row {
  readonly part: string;
  readonly field: string;
  readonly type: string;
  readonly facts: readonly string[];
  /** The line as it is written. */
  readonly line: string;
}

/** An operation, resource or shape of the table with its lines. */
export interface Block {
  readonly kind: 'operation' | 'resource' | 'shape';
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly who?: string;
  readonly section: string;
  readonly rows: readonly Row[];
  readonly rules: readonly string[];
}

const lineText = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8').split('\n');
const isSaid = (line: string) => line.trim() !== '' && !line.startsWith('#');

/** What the service description lists. */
export function readTable(): Block[] {
  const blocks: (Block & { rows: Row[]; rules: string[] })[] = [];
  for (const line of lineText('service-table.txt').filter(isSaid)) {
    if (!line.startsWith(' ')) blocks.push({ ...heading(line), rows: [], rules: [] });
    else if (line.startsWith('  rule')) blocks.at(-1)?.rules.push(line.replace('  rule', '').trim());
    else blocks.at(-1)?.rows.push(rowOf(line));
  }
  return blocks;
}

function heading(line: string): Omit<Block, 'rows' | 'rules'> {
  const [first, ...rest] = line.split(/ {2,}/) as [string, ...string[]];
  const [kind, name] = first.split(' ') as [Block['kind'], string];
  if (kind !== 'operation') return { kind, name, section: rest[0] as string };
  const [place, who, section] = rest as [string, string, string];
  const [method, path] = place.split(' ');
  return { kind, name, method, path, who, section };
}

function rowOf(line: string): Row {
  const [said] = line.trim().split(/ {2,}-- /) as [string];
  const [part, field, type, facts = ''] = said.split(/ {2,}/) as [string, string, string, string?];
  return { part, field, type, facts: facts.split('; ').filter(Boolean), line };
}

export interface Additions {
  readonly facts: ReadonlySet<string>;
  readonly extensions: readonly string[];
  /** Facts of the table that are not so. */
  readonly departures: ReadonlySet<string>;
}

/** What the contract has beyond the table, or otherwise than it. */
export function readAdditions(): Additions {
  const lines = lineText('service-additions.txt').filter(isSaid);
  const of = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  return {
    extensions: of('extension'),
    departures: new Set(of('departure')),
    facts: new Set(lines.filter((line) => !/^(?:extension|departure) /.test(line))),
  };
}

/** The facts of the table; `known` are further facts of resources and shapes, which hold wherever one stands. */
export function factsOfTable(blocks: readonly Block[], known: ReadonlySet<string>): Set<string> {
  const facts = new Set<string>();
  for (const block of blocks) {
    if (block.kind === 'shape') continue;
    if (block.kind === 'operation') facts.add(`${block.name} ${block.method} ${block.path}`);
    if (block.who === 'bearer') facts.add(`${block.name} who: bearer`);
    for (const rule of block.rules) facts.add(`${block.name} rule: ${rule}`);
    for (const fact of block.rows.flatMap((row) => factsOfRow(row, blocks, known))) {
      facts.add(`${block.name} ${fact}`);
    }
  }
  return facts;
}

function factsOfRow(row: Row, blocks: readonly Block[], known: ReadonlySet<string>): string[] {
  const { part, field, type, facts } = row;
  const own = facts.map((fact) => `${part} ${field}: ${fact}`);
  if (!type.startsWith('= ')) return [`${part} ${field}: ${type}`, ...own];
  const name = type.slice(2);
  const block = blocks.find((one) => one.name === name);
  if (!block) throw new Error(`The table has no ${name}: ${row.line}`);
  const said = block.rows.flatMap((inner) => factsOfRow(inner, blocks, known));
  const added = [...known]
    .filter((fact) => fact.startsWith(`${name} `))
    .map((fact) => fact.slice(name.length + 1));
  const rules = block.rules.map((rule) => `rule: ${rule}`);
  const prefix = field === '.' ? `${part} ` : `${part} ${field}.`;
  const here = [...said, ...added, ...rules].map((fact) => fact.replace(/^field /, prefix));
  return [...(field === '.' ? [] : [`${part} ${field}: object`]), ...own, ...here];
}
