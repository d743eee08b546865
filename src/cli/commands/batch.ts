import { relative } from 'node:path';
import { z } from 'zod';
import { BatchProgress } from '../batch/batch-progress.js';
import { openBudget } from '../batch/budget.js';
import { type CheckedJobs, checkJobs, readEndedJobs, readRemainingJobs } from '../batch/check.js';
import { CircuitBreaker } from '../batch/circuit-breaker.js';
import { type JobsFile, openJobsFile } from '../batch/jobs-file.js';
import { type JobState, type Journal, withJournal } from '../batch/journal.js';
import { type BatchContext, type JobEnd, runJob } from '../batch/run-job.js';
import { parseJob, planLine, type WrittenJob } from '../batch/written-job.js';
import { type ParsedCommand, readNumber } from '../command/command.js';
import { printRequests } from '../command/dry-run.js';
import { runInParallel } from '../command/parallel.js';
import type { Needs } from '../connect/context.js';
import { previewJob } from '../generation/preview.js';
import { confirmPrice, describeRest, previewPrice, readPrices } from '../generation/price.js';
import { createExtensionCheck } from '../generation/run-tasks.js';
import { exitCodes } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { formatCell } from '../terminal/rows.js';
import { withScratch } from '../terminal/scratch.js';
import { formatCount, formatField, oneLine } from '../terminal/text.js';
import { JobResult } from '../views/answers.js';
import { batchSaveFlags, waitFlags, yesFlag } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = ParsedCommand &
  Needs<'system' | 'output' | 'interruption' | 'signal' | 'settings' | 'mayAsk'> &
  Needs<'folders' | 'ledger' | 'services' | 'connect'>;

export const view = (): View => ({
  usage: 'batch <jobs>',
  changes: true,
  summary: 'Run many image and video jobs, and print one result per line; run the command again to resume it',
  explain: { jobs: 'File with one job per line, as JSON or CSV (.csv); - for standard input' },
  flags: {
    '--concurrency <number>': 'Tasks to run in parallel (1 to 100; default 4)',
    '--max-credits <number>':
      'Maximum cost of the whole batch, with earlier runs; a job that could exceed what is left is not sent',
    '--retry-failed': 'Retry jobs that failed in earlier runs',
    '--rerun-changed':
      'Send jobs again whose line was changed but kept its id, and finished ones whose image was replaced',
    '--state <path>': 'File that stores the state of each job (default <jobs>.state)',
    ...batchSaveFlags,
    ...waitFlags,
    ...yesFlag,
  },
  shape: {
    columns: ['line', 'id', 'status', 'task_id', 'credits', 'result'],
    less: ['credits', 'task_id'],
  },
  notes: [
    'Each line has a "command", such as "image relight", and its arguments and flags by name; nested objects and dotted names are equivalent. In CSV, the cells of a row are separated by commas or semicolons, the first row has the names, and an empty cell sets nothing. A list has a column for each value, such as images.0 and images.1, or is JSON in one cell.',
    'A job is identified by its "id", or by the content of its line. A line that was changed but kept its id is refused; files of finished jobs that are missing are downloaded again. Paths are relative to the current folder. --output, --force, --receipt, --timeout and --interval apply to lines that do not set them.',
    'The total price is shown first, and must be confirmed on a terminal above the setting confirm_credits. --max-credits reserves the price of a job before it is sent; when it ends, its cost counts instead, and nothing if it failed.',
    'A result has the line, id, status, task id and credits, and then the URLs or paths, or the error. The status is done or failed, or one that the next run resumes: running, unsaved, unanswered or unsent. A run that resumes a batch prints the results of earlier runs first, except on a terminal. After Ctrl-C, jobs that have not ended have no result yet.',
  ],
  examples: [
    "regen batch jobs.jsonl -o 'out/{id}.{ext}'",
    'regen batch jobs.csv --concurrency 8 --max-credits 500 --ndjson > results.ndjson',
  ],
  answer: z.array(JobResult),
});

// Decided: four jobs in parallel. The embedded service processes fewer, while others are sent and saved. There is a
// maximum, because each task is polled separately.
/** Runs the jobs of a file, or continues where an earlier run of the same command stopped. */
export async function run(context: Context): Promise<number> {
  const limits = {
    concurrency: readNumber(context.flags, 'concurrency', { min: 1, max: 100 }) ?? 4,
    credits: readNumber(context.flags, 'max-credits'),
  };
  return withScratch(context.system.now(), async (scratch) => {
    const file = await openJobsFile(context, context.system, scratch);
    return withJournal(context.folders.state, file.state, context.services.target, async (journal) => {
      const checked = await checkJobs(context, file, journal);
      const batch = { context, file, journal, checked };
      if (context.flags['dry-run']) return dryRun(batch);
      await sayWhatElse(batch);
      return runBatch(batch, limits);
    });
  });
}

interface OpenBatch {
  readonly context: Context;
  readonly file: JobsFile;
  readonly journal: Journal;
  readonly checked: CheckedJobs;
}

async function dryRun({ context, file, checked }: OpenBatch): Promise<number> {
  const { output } = context;
  const jobs = readUnsentJobs(file, checked);
  const count = await printRequests(context, jobs, async (job) =>
    previewJob(context.system, await planLine(parseJob(context.flags, job), context)),
  );
  if (count === 0) await output.note('There is nothing left to send.');
  await previewPrice(context, [...checked.unsent.values()]);
  return exitCodes.done;
}

async function* readUnsentJobs(file: JobsFile, checked: CheckedJobs): AsyncGenerator<WrittenJob> {
  for await (const job of readRemainingJobs(file, checked)) if (checked.unsent.has(job.key)) yield job;
}

/** Reports what this run does besides sending jobs, or leaves out. */
async function sayWhatElse({ context: { output }, journal, checked }: OpenBatch): Promise<void> {
  const { lines, unsaved } = checked;
  const removed = [...journal.entries()].filter(([key]) => !lines.has(key)).length;
  if (removed > 0) {
    const verb = removed === 1 ? 'is' : 'are';
    await output.note(
      `Ignored ${formatCount(removed, 'job')} of earlier runs that ${verb} no longer in the file.`,
    );
  }
  if (unsaved > 0)
    await output.note(`Files of ${formatCount(unsaved, 'finished job')} are not there; downloading them.`);
}

async function runBatch(
  { context, file, journal, checked }: OpenBatch,
  limits: { readonly concurrency: number; readonly credits: number | undefined },
): Promise<number> {
  const { output } = context;
  const { lines, before } = checked;
  const results: JobResult[] = [];
  const print = async (result: JobResult) => {
    if (output.mode.json) results.push(result);
    else await printResult(output, result);
  };
  // A file or a program gets the rows of earlier runs, too; a person has seen them.
  if (output.mode.json || !output.system.stdout.isTTY) {
    for await (const job of readEndedJobs(file, checked))
      await print(toEarlierResult(job, journal.get(job.key)));
  }
  // Connects before the first job, so that a problem of all jobs is reported once.
  await context.services.reach();
  const agreed = await agreeOnPrice(context, journal, checked, limits.credits);
  context.interruption.hint = 'Run the same command again to continue; sent jobs are not sent twice.';
  const breaker = new CircuitBreaker(context.signal);
  const claimed = new Set<string>();
  const checkExtension = createExtensionCheck(output);
  const batch = { ...context, ...agreed, journal, breaker, checkExtension, claimed };
  const left = readRemainingJobs(file, checked);
  const progress = new BatchProgress(output, lines.size, before);
  await progress.open();
  try {
    await runInParallel(readUntilOpen(left, breaker), limits.concurrency, async (job) => {
      progress.begin();
      const end = await runJob(batch, job);
      const result = toResult(job, end, journal.get(job.key));
      progress.record(job.line, end, result.credits ?? 0);
      await print(result);
    });
  } finally {
    progress.close();
    await output.note(progress.summarize(journal.replacedCredits));
  }
  if (output.mode.json) await output.answer(results);
  await sayHowToGoOn(context, progress);
  return progress.exit;
}

/**
 * Shows what the jobs that are to be sent cost, and asks above the limit in the settings.
 * @returns the budget, if there is a limit, and the prices, if they are known
 * @throws Failure if the answer is no
 */
async function agreeOnPrice(
  context: Context,
  journal: Journal,
  { lines, unsent }: CheckedJobs,
  most: number | undefined,
): Promise<Pick<BatchContext, 'budget' | 'prices'>> {
  if (unsent.size === 0) return { budget: undefined, prices: undefined };
  const prices = await readPrices(context);
  const budget = openBudget(context, journal, most, prices);
  const jobs = [...unsent.values()];
  const isUnsure = [...unsent.keys()].some((key) => journal.get(key).entry !== undefined);
  const subject = describeRest(jobs.length < lines.size, isUnsure);
  await confirmPrice(context, jobs, prices, { subject, most: budget?.left });
  return { budget, prices };
}

/** Reads jobs until no more may be sent. */
async function* readUntilOpen(
  jobs: AsyncGenerator<WrittenJob>,
  breaker: CircuitBreaker,
): AsyncGenerator<WrittenJob> {
  for await (const job of jobs) {
    if (breaker.isOpen) return;
    yield job;
  }
}

async function sayHowToGoOn(
  context: Needs<'output' | 'services'>,
  { failed, left, resumable, refusals }: BatchProgress,
): Promise<void> {
  const { output } = context;
  if (refusals) await output.note(refusals);
  if (failed > 0) await output.note('Pass --retry-failed to send failed jobs again.');
  if (resumable > 0) await output.note('Run the same command again to continue with the rest.');
  if (failed + left === 0) await context.services.announce();
}

function toResult(
  { line, key }: WrittenJob,
  { status, outcome, failure, isSaved }: JobEnd,
  { task_id, credits }: JobState,
): JobResult {
  const isSent = status !== 'unsent';
  return {
    ...{ line, id: key, status },
    task_id: (isSent && task_id) || null,
    credits: isSent ? (credits ?? null) : null,
    ...(status === 'done' && { [isSaved ? 'saved' : 'outputs']: outcome?.lines ?? [] }),
    ...(failure && { error: { code: failure.facts.code, message: failure.message } }),
  };
}

/** The result of a job that ended in an earlier run. */
function toEarlierResult(
  { line, key, end }: WrittenJob & { readonly end: 'done' | 'failed' },
  { task_id, credits, saved, outputs = [], code = 'task_failed', reason = '' }: JobState,
): JobResult {
  return {
    ...{ line, id: key, status: end, task_id: task_id ?? null, credits: credits ?? null },
    ...(end === 'done' && (saved ? { saved: [...saved] } : { outputs: [...outputs] })),
    ...(end === 'failed' && { error: { code, message: reason } }),
  };
}

/** Prints a result: as JSON, as tab-separated values, or on a terminal as a sentence, because rows come one by one. */
async function printResult(output: Output, result: JobResult): Promise<void> {
  if (output.mode.ndjson) return output.items([result]);
  const { line, id, status, task_id, credits, outputs, saved, error } = result;
  const { stdout, cwd } = output.system;
  if (stdout.isTTY) {
    const files = saved?.map((path) => relative(cwd, path));
    const price = credits ? ` (${credits} credits)` : '';
    const end = files ?? outputs ?? (error ? [error.message] : []);
    return output.line(
      oneLine(`${line} ${id} ${status}${price}${end.length > 0 ? `: ${end.join(', ')}` : ''}`),
    );
  }
  const facts = [line, id, status, task_id, credits, outputs ?? saved ?? error?.message];
  await output.line(facts.map((fact) => formatField(oneLine(formatCell(fact)))).join('\t'));
}
