import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { contract } from '../../src/contract/index.js';
import { operations } from '../../src/contract/operation.js';
import { factsOfContract } from './contract-facts.js';
import { type DescribedTable, readDescription } from './service-description.js';
import { type Block, factsOfTable, readAdditions, readTable } from './service-table.js';

const blocks = readTable();
const additions = readAdditions();
const named = (kind: Block['kind']) => blocks.filter((block) => block.kind === kind).map(({ name }) => name);

const inTable = factsOfTable(blocks, new Set());
const inContract = factsOfContract(new Set(named('resource')));
/** A shape is nowhere but where it stands. */
const isOfShape = (fact: string) => named('shape').some((name) => fact.startsWith(`${name} `));

describe('the contract', () => {
  it('holds every fact of the table exactly', () => {
    const missing = [...inTable].filter((fact) => !inContract.has(fact) && !additions.departures.has(fact));
    expect(missing).toEqual([]);
  });

  it('holds nothing beyond the table but the named additions', () => {
    const known = factsOfTable(blocks, additions.facts);
    const beyond = [...inContract].filter((fact) => !known.has(fact) && !additions.facts.has(fact));
    expect(beyond).toEqual([]);
  });

  it('has every operation that is named as an extension, and marks no other', () => {
    const extensions = [...operations(contract)].filter(([, { extension }]) => extension);
    const written = extensions.map(([name, { method, path }]) => `${name} ${method} ${path}`);
    expect(written.sort()).toEqual([...additions.extensions].sort());
  });

  it('answers each task that it starts with an id that another operation reads', () => {
    const byName = new Map(operations(contract));
    const starting = [...byName].filter(([, { task }]) => task);
    expect(starting.map(([name]) => name).sort()).toEqual([
      ...['image.relight', 'image.skinEnhancer', 'image.styleTransfer', 'image.upscaler'],
      ...['video.extend', 'video.startEnd2video', 'video.text2video'],
    ]);
    for (const [name, { task, response }] of starting) {
      const reader = byName.get(task?.read as string);
      expect(reader?.method, name).toBe('GET');
      expect(Object.keys(reader?.params.shape ?? {}), name).toEqual(['task_id']);
      const wrapped = 'data' in ((response as z.ZodObject).shape as object);
      expect(task?.id(wrapped ? { data: { task_id: 'task-7' } } : { task_id: 'task-7' }), name).toBe(
        'task-7',
      );
    }
  });
});

describe('the list of additions', () => {
  it('names nothing that the contract does not have', () => {
    const stale = [...additions.facts].filter((fact) => !isOfShape(fact) && !inContract.has(fact));
    expect(stale).toEqual([]);
    const known = factsOfTable(blocks, additions.facts);
    const unused = [...known].filter((fact) => !inContract.has(fact) && !additions.departures.has(fact));
    expect(unused).toEqual([]);
  });

  it('names nothing that the table says already, and departs from nothing but the table', () => {
    expect([...additions.facts].filter((fact) => inTable.has(fact))).toEqual([]);
    expect([...additions.departures].filter((fact) => !inTable.has(fact))).toEqual([]);
  });
});

/** Where the service description lies, beside a checkout. */
const description = new URL('../../../shared/spec/service.md', import.meta.url);

describe.skipIf(!existsSync(description))(
  'the table (skipped where no service.md lies beside the checkout)',
  () => {
    const { headings, tables, bearer } = existsSync(description)
      ? readDescription(readFileSync(description, 'utf8'))
      : { headings: [], tables: [], bearer: [] };

    it('lists every operation of the description with its section, and no other', () => {
      const listed = blocks.filter(({ kind }) => kind === 'operation');
      const written = listed.map(({ section, method, path }) => `${section} ${method} ${path}`);
      expect(headings.length).toBeGreaterThan(15);
      expect(written.sort()).toEqual([...headings].sort());
    });

    it('asks for a credential where the description shows one', () => {
      const listed = blocks.filter(({ who }) => who === 'bearer').map(({ section }) => section);
      expect(listed.sort()).toEqual([...bearer].sort());
    });

    it.each(tables.filter(({ section }) => /^[24]/.test(section)).map((one) => [one.section, one] as const))(
      'lists every field of section %s with its type, values and limits, and no other',
      (section, described) => {
        const block = blockOf(section, described);
        const outer = block.rows
          .filter(({ field }) => !/[.[]/.test(field))
          .filter(({ part }) => part !== 'answer');
        expect(outer.map(({ field }) => field).sort()).toEqual(
          described.rows.map(({ field }) => field).sort(),
        );
        for (const { field, type, values, numbers, required } of described.rows) {
          const row = outer.find((one) => one.field === field);
          const told = [row?.line, ...block.rules.filter((rule) => rule.includes(field))].join('\n');
          expect(row?.type.replace(/^= /, ''), field).toBe(type);
          for (const value of values) expect(wordsOf(told), field).toContain(value);
          for (const number of numbers) expect(numbersOf(told), field).toContain(number);
          expect(row?.facts.includes('required'), field).toBe(required);
        }
      },
    );

    it('holds every limit of section 8', () => {
      const limits = tables.find(({ section }) => section === '8');
      const all = blocks.flatMap(({ rows, rules }) => [...rows.map(({ line }) => line), ...rules]).join('\n');
      expect(limits?.rows.length).toBeGreaterThan(10);
      // The hour that an admin token lives is a matter of its content, not of its form.
      const numbers = limits?.rows
        .filter(({ field }) => !/admin token/.test(field))
        .flatMap((row) => row.numbers);
      for (const number of numbers ?? []) expect(numbersOf(all)).toContain(number);
    });
  },
);

/** Of the blocks of a section the one with the table's first field. */
function blockOf(section: string, { rows }: DescribedTable): Block {
  const found = blocks.filter((block) => block.section === section && block.rows.length > 0);
  const fitting = found.find((block) => block.rows.some(({ field }) => field === rows[0]?.field));
  if (!fitting) throw new Error(`The table has no block for section ${section}.`);
  return fitting;
}

function wordsOf(line: string): string[] {
  return line.split(/[,;:\s]+/);
}

function numbersOf(text: string): string[] {
  return text.match(/(?<![\w.])\d+(?:\.\d+)?(?!\w)/g) ?? [];
}
