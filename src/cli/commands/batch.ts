import { setMaxListeners } from 'node:events';
import { Board } from '../batch/batch-progress.js';
import { checkAll, jobsLeft } from '../batch/check.js';
import { Patience } from '../batch/circuit-breaker.js';
import type { JobKeys } from '../batch/job-keys.js';
import { type JobsFile, jobsFileOf } from '../batch/jobs-file.js';
import type { Journal } from '../batch/journal.js';
import { type Limits, limitsOf } from '../batch/limits.js';
import { purseOf } from '../batch/reserve.js';
import { printResult, type Result, resultOf } from '../batch/result.js';
import { runAll } from '../batch/run-all.js';
import { withJournal } from '../batch/state.js';
import { commandOf, jobOf } from '../batch/written-job.js';
import { type PrintedRequest, printRequests } from '../command/dry-run.js';
import type { Invocation } from '../command/invocation.js';
import { exitCodes } from '../terminal/failure.js';
import { withScratch } from '../terminal/scratch.js';
import { requestOfJob } from './generate.js';

/** Runs the jobs of a file, or goes on with them where an earlier run of the same command stopped. */
export async function run(invocation: Invocation): Promise<number> {
  const limits = limitsOf(invocation);
  return withScratch(invocation.system.now(), async (scratch) => {
    const file = await jobsFileOf(invocation, scratch);
    return withJournal(invocation, file.state, async (journal) => {
      const { keys, before } = await checkAll(invocation, file, journal);
      if (invocation.flags['dry-run']) return dryRun(invocation, file, journal, keys);
      await sayRemoved(invocation, journal, keys);
      const board = new Board(invocation, keys.size, before);
      return runBatch(invocation, file, journal, keys, board, limits);
    });
  });
}

async function dryRun(
  invocation: Invocation,
  file: JobsFile,
  journal: Journal,
  keys: JobKeys,
): Promise<number> {
  const requests = requestsOf(invocation, jobsLeft(invocation, file, journal, keys));
  const count = await printRequests(invocation, requests);
  if (count === 0) await invocation.output.note('All jobs have ended; nothing is left to send.');
  return exitCodes.done;
}

async function* requestsOf(
  invocation: Invocation,
  jobs: ReturnType<typeof jobsLeft>,
): AsyncGenerator<PrintedRequest> {
  for await (const job of jobs) {
    yield await requestOfJob(invocation, await jobOf(commandOf(invocation, job)));
  }
}

async function sayRemoved({ output }: Invocation, journal: Journal, keys: JobKeys): Promise<void> {
  const removed = [...journal.entries()].filter(([key]) => keys.lineOf(key) === undefined).length;
  if (removed > 0) {
    await output.note(
      `Jobs of earlier runs that are not in the file any more: ${removed}. They are left as they are.`,
    );
  }
}

async function runBatch(
  invocation: Invocation,
  file: JobsFile,
  journal: Journal,
  keys: JobKeys,
  board: Board,
  limits: Limits,
): Promise<number> {
  const { output, target } = invocation;
  const purse = await purseOf(invocation, journal, limits.credits);
  // Reached before the first job, so that what hinders all of them is said once.
  await invocation.service(target);
  invocation.resumeHint = 'The same command goes on from here; what was sent already is not sent twice.';
  // Each job under way listens for Ctrl-C in several places.
  setMaxListeners(0, invocation.signal);
  const patience = new Patience(invocation.signal);
  const batch = { invocation, target, journal, board, patience, purse };
  const left = jobsLeft(invocation, file, journal, keys);
  const results: Result[] = [];
  await board.open();
  try {
    await runAll(batch, left, limits.concurrency, async (job, end) => {
      const result = resultOf(job, end, journal.get(job.key));
      board.ended(end, result.credits ?? 0);
      if (output.mode.json) results.push(result);
      else await printResult(output, result);
    });
  } finally {
    board.close();
    await output.note(board.summary);
  }
  if (output.mode.json) await output.answer(results);
  await sayHowToGoOn(invocation, board);
  return board.exit;
}

async function sayHowToGoOn(invocation: Invocation, { failed, left }: Board): Promise<void> {
  const { output } = invocation;
  if (failed > 0) await output.note('What failed is sent anew with --retry-failed.');
  if (left > 0) await output.note('The same command goes on with the rest.');
  if (failed + left === 0) await invocation.sayWhere();
}
