import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';

// What `.ci/run` makes of the results that vitest wrote: which files run once more, and how many tests passed and failed.
//   tsx scripts/ci-results.ts failed <results.json>   the files in which something failed, a line each
//   tsx scripts/ci-results.ts verdict <results>…      all failures, then `N passed, N failed`; exit code 1 if something failed

interface FileResult {
  name: string;
  status: string;
  message: string;
  assertionResults: { status: string; fullName: string; failureMessages: string[] | null }[];
}

export interface Results {
  success: boolean;
  testResults: FileResult[];
}

/** More unsteady tests than these in one run are a failure. */
const UNSTEADY_AT_MOST = 3;

export function listFailedFiles({ testResults }: Results): string[] {
  return testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
}

/**
 * One run of tests, with what its failed files gave when they ran once more. What failed and then passed is unsteady. A
 * run that wrote no results, or failed although no file did, counts as one failure.
 */
export function judge(first: Results | undefined, again: Results | undefined) {
  const verdict = { passed: 0, failed: 0, unsteady: 0, lines: [] as string[] };
  if (!first) return { ...verdict, failed: 1, lines: ['FAILED: the tests wrote no results'] };
  const describe = (word: string, file: FileResult) => {
    const failures = file.assertionResults.filter(({ status }) => status === 'failed');
    for (const { fullName, failureMessages } of failures)
      verdict.lines.push(`${word} ${file.name}: ${fullName}`, ...(failureMessages ?? []));
    if (failures.length === 0) verdict.lines.push(`${word} ${file.name}`, file.message);
    return Math.max(failures.length, 1);
  };
  for (const file of first.testResults) {
    const last = again?.testResults.find(({ name }) => name === file.name) ?? file;
    verdict.passed += last.assertionResults.filter(({ status }) => status === 'passed').length;
    if (last.status === 'failed') verdict.failed += describe('FAILED', last);
    else if (file.status === 'failed') verdict.unsteady += describe('UNSTEADY', file);
  }
  if (!first.success && listFailedFiles(first).length === 0) {
    verdict.failed += 1;
    verdict.lines.push('FAILED: an error outside of the tests; see above');
  }
  return verdict;
}

const readResults = (path: string): Results | undefined =>
  existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [job, ...names] = process.argv.slice(2);
  if (job === 'failed') {
    const results = readResults(names[0] ?? '');
    for (const file of results ? listFailedFiles(results) : []) console.log(relative(process.cwd(), file));
  } else {
    const verdicts = names.map((name) =>
      judge(readResults(`${name}.json`), readResults(`${name}-again.json`)),
    );
    const sum = (key: 'passed' | 'failed' | 'unsteady') =>
      verdicts.reduce((total, each) => total + each[key], 0);
    for (const line of verdicts.flatMap(({ lines }) => lines)) console.log(line);
    const failed = sum('failed') + (sum('unsteady') > UNSTEADY_AT_MOST ? sum('unsteady') : 0);
    console.log(`${sum('passed')} passed, ${failed} failed`);
    process.exitCode = failed > 0 ? 1 : 0;
  }
}
