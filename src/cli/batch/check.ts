import { existsSync } from 'node:fs';
import type { FlagValues } from '../command/command.js';
import type { FailureDetail } from '../command/request.js';
import { readWaitFlags } from '../generation/await-task.js';
import { openDestination } from '../generation/destination.js';
import type { PlanContext } from '../generation/plan.js';
import { usage } from '../terminal/failure.js';
import { toExistsFailure } from '../terminal/save.js';
import type { Before } from './batch-progress.js';
import { JobKeys } from './job-keys.js';
import { type JobsFile, linesIn } from './jobs-file.js';
import type { Journal } from './journal.js';
import { Problems } from './problems.js';
import { parseJob, planLine, type WrittenJob } from './written-job.js';

/** What a reading of the whole file found. */
export interface Checked {
  readonly keys: JobKeys;
  readonly before: Before;
}

interface CheckContext extends PlanContext {
  readonly flags: FlagValues;
  readonly signal: AbortSignal;
}

/**
 * Reads the whole file, and holds what is left to do against all that can be known before anything is sent.
 * @throws Failure with everything that is wrong, by line
 */
export async function checkAll(batch: CheckContext, file: JobsFile, journal: Journal): Promise<Checked> {
  const keys = new JobKeys();
  const before = { done: 0, failed: 0, credits: 0 };
  const problems = new Problems();
  const paths = new Map<string, number>();
  let isSaving = batch.flags.output !== undefined;
  for await (const job of jobsIn(file, keys, problems.add)) {
    batch.signal.throwIfAborted();
    isSaving ||= job.record.output !== undefined;
    const end = settledAs(batch.flags, journal, job);
    if (!end) await checkOne(batch, journal, job, paths).catch((error) => problems.addFrom(job.line, error));
    else {
      before[end] += 1;
      before.credits += journal.get(job.key).credits ?? 0;
    }
  }
  problems.throwIfAny(file.name);
  if (keys.size === 0) throw usage(`There are no jobs in ${file.name}.`);
  const unused = ['receipt', 'force'].find((flag) => !isSaving && batch.flags[flag]);
  if (unused) throw usage(`--${unused} needs --output, here or in a line: without it nothing is saved.`);
  return { keys, before };
}

/**
 * The jobs that need something, read anew.
 * @throws Failure where the file is not what was checked
 */
export async function* jobsLeft(
  batch: Pick<CheckContext, 'flags'>,
  file: JobsFile,
  journal: Journal,
  keys: JobKeys,
): AsyncGenerator<WrittenJob> {
  const changed = () =>
    usage(`${file.name} was changed while its jobs ran.`, 'The same command goes on with what it holds now.');
  const note = () => {
    throw changed();
  };
  for await (const job of jobsIn(file, new JobKeys(), note)) {
    if (keys.lineOf(job.key) !== job.line) throw changed();
    if (!settledAs(batch.flags, journal, job)) yield job;
  }
}

/** The jobs of a file one by one; `note` hears of lines that are none. */
async function* jobsIn(
  file: JobsFile,
  keys: JobKeys,
  note: (problem: FailureDetail) => void,
): AsyncGenerator<WrittenJob> {
  for await (const one of linesIn(file)) {
    const { line } = one;
    if ('problem' in one) note({ path: `line ${line}`, message: one.problem });
    else {
      const known = keys.next(line, one.record);
      if ('problem' in known) note({ path: `line ${line} id`, message: known.problem });
      else yield { line, key: known.key, record: one.record };
    }
  }
}

/** How a job ended that needs nothing any more. */
function settledAs(flags: FlagValues, journal: Journal, { key }: WrittenJob): 'done' | 'failed' | undefined {
  const { end } = journal.get(key);
  return end === 'failed' && flags['retry-failed'] ? undefined : end;
}

async function checkOne(
  batch: CheckContext,
  journal: Journal,
  written: WrittenJob,
  paths: Map<string, number>,
): Promise<void> {
  const command = parseJob(batch.flags, written);
  const destination = openDestination(batch.system.cwd, command.flags, true);
  readWaitFlags(command.flags);
  const state = journal.get(written.key);
  // Of a task that is under way the image may be gone, and results may be saved in part.
  const isUnderWay = state.entry !== undefined && state.end === undefined;
  if (state.task_id !== undefined && isUnderWay) return;
  const { name } = await planLine(command, batch);
  const path = destination?.firstPath(name);
  if (path === undefined) return;
  const other = paths.get(path);
  if (other !== undefined) throw usage(`Its result would be saved over the one of line ${other}: ${path}`);
  paths.set(path, written.line);
  if (!isUnderWay && !destination?.how.force && existsSync(path)) throw toExistsFailure(path);
}
