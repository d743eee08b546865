import { expect, it } from 'vitest';
import { findingsReason } from '../../../src/service/jobs/findings-reason.js';

it('gives each finding a line, the high ones first', () => {
  const finding = (severity: 'high' | 'low', line: number) =>
    ({ severity, file: 'a.py', line, message: 'reads keys', rule: 'keys' }) as never;
  expect(findingsReason([finding('low', 1), finding('high', 2)])).toBe(
    'a.py:2 reads keys (keys)\na.py:1 reads keys (keys)',
  );
});
