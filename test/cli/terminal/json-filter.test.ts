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
