import { expect, it } from 'vitest';
import { formatCsvCell } from '../../../src/cli/terminal/text.js';

it.each([
  ['plain', 'plain'],
  ['a "b", c', '"a ""b"", c"'],
  ['two\nlines', '"two\nlines"'],
  ['=HYPERLINK("x")', '"\'=HYPERLINK(""x"")"'],
  ['@sum', "'@sum"],
  ['-30', '-30'],
  ['-1+2', "'-1+2"],
  ['\u001b[31mred', 'red'],
  ['evil\u001b[31mred\u0007end', 'evilred\\u0007end'],
])('%j becomes the CSV cell %j, which spreadsheets do not run as a formula', (text, cell) => {
  expect(formatCsvCell(text)).toBe(cell);
});
