import { expect, test } from 'vitest';
import { layOutRecord, layOutTable } from '../../../src/cli/terminal/table.js';
import { cutText, measureWidth, wrapText } from '../../../src/cli/terminal/width.js';
import { regen } from '../../support/cli.js';
import { serviceForTest } from '../../support/service.js';

const keepText = (text: string) => text;
const paint = { bold: keepText, dim: keepText, red: keepText, magenta: keepText, green: keepText };
const screen = { columns: 80, now: 0, paint };
const countUnits = (lines: readonly string[]) => lines.join('\n').length;

/** Half of a flag: measuring many of them takes long. */
const REGION = '\u{1f1e6}';

test('a record shows the beginning of a text of a megabyte, and that it goes on', () => {
  const lines = layOutRecord({ id: 'light', description: 'x'.repeat(1_000_000) }, screen);
  expect(lines[0]).toMatch(/^ID +light$/);
  expect(countUnits(lines)).toBeLessThan(300_000);
  expect(lines.at(-1)).toMatch(/x…$/);
});

test('a listing shows the beginning of each of many long texts', () => {
  const items = Array.from({ length: 300 }, (_, id) => ({ id, description: 'x '.repeat(50_000) }));
  const table = { fields: ['id', 'description'], less: [], ids: [] };
  const { lines } = layOutTable(items, table, screen);
  expect(countUnits(lines)).toBeLessThan(600_000);
  expect(lines.filter((line) => /^\d+ +x/.test(line))).toHaveLength(300);
});

test('the name of a field that is a megabyte long is cut', () => {
  expect(countUnits(layOutRecord({ ['x'.repeat(1_000_000)]: 1 }, screen))).toBeLessThan(1_000);
});

test('a text is cut to a width without a look at the rest of it', () => {
  expect(cutText(REGION.repeat(500_000), 11)).toBe(`${REGION.repeat(20)}…`);
  expect(cutText('e\u0301'.repeat(9), 9)).toBe('e\u0301'.repeat(9));
  expect(cutText('short', 9)).toBe('short');
});

test('long text is wrapped between words as short text is, and nothing of it is lost', () => {
  const words = Array.from({ length: 3_000 }, (_, index) => `w${index}${'é'.repeat(index % 5)}`);
  const lines = wrapText(words.join(' '), 40);
  expect(lines.join(' ')).toBe(words.join(' '));
  expect(Math.max(...lines.map(measureWidth))).toBeLessThanOrEqual(40);
  expect(Math.min(...lines.slice(0, -1).map(measureWidth))).toBeGreaterThan(25);
});

test('a word that is too long for a line is broken at any length', () => {
  const lines = wrapText('漢'.repeat(2_500), 40);
  expect(lines.join('')).toBe('漢'.repeat(2_500));
  expect(lines).toHaveLength(125);
});

test('a message is wrapped between words, and its command stays whole', async () => {
  const { url, ownerToken } = await serviceForTest();
  const env = { REGEN_BASE_URL: url, REGEN_TOKEN: ownerToken };
  const { stderr } = await regen(['task', 'show', 'nope-nope'], { env, terminal: true, columns: 40 });
  expect(stderr.split('\n').filter((line) => line.length > 40 && !line.startsWith('  regen '))).toEqual([]);
  expect(stderr).toContain('\n  regen video status <task_id>\n');
});

test('a list of problems stays indented where one of them is wrapped', async () => {
  const { stderr } = await regen(['image', 'relight', 'none.png', '--style', 'brightest'], {
    terminal: true,
    columns: 40,
  });
  const [first, ...problems] = stderr.trimEnd().split('\n');
  expect(first).toMatch(/^error: \d problems; nothing was sent\.$/);
  expect(problems.length).toBeGreaterThan(3);
  expect(problems.filter((line) => !line.startsWith('  ') || line.length > 40)).toEqual([]);
});
