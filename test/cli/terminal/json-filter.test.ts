import { afterEach, expect, test } from 'vitest';
import { openJsonFilter } from '../../../src/cli/terminal/json-filter.js';

const { exitCode } = process;
afterEach(() => {
  process.exitCode = exitCode;
});

test.each([undefined, 9])(
  'an expression that fails leaves the exit code %s of the process',
  async (before) => {
    process.exitCode = before;
    await expect(openJsonFilter('.a[')).rejects.toThrow('--jq: syntax error');
    const filter = await openJsonFilter('.a.b');
    expect(() => filter({ a: 1 }, false)).toThrow('Cannot index number');
    expect(filter({ a: { b: 2 } }, false)).toBe('2');
    expect(process.exitCode).toBe(before);
  },
);

test.each([
  ['.id |', 'syntax error, unexpected end of file at <top-level>, line 1.'],
  ['.id |\n  [', 'syntax error, unexpected end of file at <top-level>, line 2.'],
  ['.id)', 'syntax error, unexpected INVALID_CHARACTER, expecting end of file at <top-level>, line 1.'],
  ['.id) | (.', 'syntax error, unexpected INVALID_CHARACTER, expecting end of file at <top-level>, line 1.'],
  ['.a | foo', 'foo/0 is not defined at <top-level>, line 1.'],
  ['$x', '$x is not defined at <top-level>, line 1.'],
  ['# nothing', 'Top-level program not given (try ".").'],
])(
  'what is wrong with %j is found before there is a value, in its own words',
  async (expression, message) => {
    await expect(openJsonFilter(expression)).rejects.toThrow(`--jq: ${message}`);
  },
);

test.each(['. # a comment \\', 'def one: 1; one', 'repeat(.)', 'error("ran")', 'input'])(
  '%j is accepted without being run',
  async (expression) => {
    await openJsonFilter(expression);
  },
);
