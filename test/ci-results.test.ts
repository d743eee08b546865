import { expect, it } from 'vitest';
import { judge, listFailedFiles, type Results } from '../scripts/ci-results.js';

/** The results of files: for each the states of its tests, or a word for what went wrong outside of them. */
function createResults(files: Record<string, string[] | string>): Results {
  const testResults = Object.entries(files).map(([name, states]) => ({
    name,
    status: typeof states === 'string' || states.includes('failed') ? 'failed' : 'passed',
    message: typeof states === 'string' ? states : '',
    assertionResults: (typeof states === 'string' ? [] : states).map((status, place) => ({
      status,
      fullName: `test ${place}`,
      failureMessages: status === 'failed' ? ['expected 1 to be 2'] : [],
    })),
  }));
  return { success: testResults.every(({ status }) => status === 'passed'), testResults };
}

it('runs the files in which a test or the set-up failed once more, and no others', () => {
  const results = createResults({
    a: ['passed', 'failed'],
    b: ['passed', 'skipped'],
    c: 'the set-up failed',
  });
  expect(listFailedFiles(results)).toEqual(['a', 'c']);
});

it('counts a file that passes at its second run as passed, and names it as unsteady', () => {
  const first = createResults({ a: ['passed', 'failed'], b: ['passed'], c: 'the set-up failed' });
  const again = createResults({ a: ['passed', 'passed'], c: ['passed'] });
  expect(judge(first, again)).toEqual({
    passed: 4,
    failed: 0,
    unsteady: 2,
    lines: ['UNSTEADY a: test 1', 'expected 1 to be 2', 'UNSTEADY c', 'the set-up failed'],
  });
});

it('counts what fails twice, or did not run again, as failed', () => {
  const first = createResults({ a: ['passed', 'failed'], c: 'the set-up failed' });
  expect(judge(first, createResults({ a: ['failed', 'failed'] }))).toMatchObject({ passed: 0, failed: 3 });
  expect(judge(first, undefined)).toMatchObject({ passed: 1, failed: 2, unsteady: 0 });
});

it('counts a run without results, and an error outside of all tests, as a failure', () => {
  expect(judge(undefined, undefined)).toMatchObject({ passed: 0, failed: 1 });
  const results = { ...createResults({ a: ['passed'] }), success: false };
  expect(judge(results, undefined)).toMatchObject({ passed: 1, failed: 1 });
});
