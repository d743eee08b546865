import { expect, it } from 'vitest';
import { formatFindings } from '../../../src/service/jobs/check-archive.js';

it('lists each finding on a line, those of high severity first', () => {
  const finding = (severity: 'high' | 'low', line: number) =>
    ({ severity, file: 'a.py', line, message: 'reads keys', rule: 'keys' }) as never;
  expect(formatFindings([finding('low', 1), finding('high', 2)])).toBe(
    'a.py:2 reads keys (keys)\na.py:1 reads keys (keys)',
  );
});
