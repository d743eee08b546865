import { expect, test } from 'vitest';
import { toFailure } from '../../../src/cli/command/to-failure.js';
import { FlowError } from '../../../src/flows/flow-error.js';

test('a publish that stops waiting for the checks has the code of a version that is still checked', () => {
  const { facts } = toFailure(new FlowError('still_checking', 'It is uploaded.', { subject: 'pack 1.0.0' }));
  expect([facts.code, facts.exit]).toEqual(['version_pending', 8]);
});
