import { existsSync } from 'node:fs';
import { FlowError } from '../../flows/flow-error.js';
import { toExistsError } from '../../flows/save-file.js';
import type { FlagValues } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { openDestination, readWaitFlags } from '../generation/finish-task.js';
import type { PlanContext } from '../generation/plan.js';
import { Failure, type FailureDetail, formatDetail, usage } from '../terminal/failure.js';
import type { EarlierRuns } from './batch-progress.js';
import { JobKeys } from './job-keys.js';
import { type JobsFile, readJobLines } from './jobs-file.js';
import type { Journal } from './journal.js';
import { parseJob, planLine, type WrittenJob } from './written-job.js';

type CheckContext = PlanContext & Needs<'flags' | 'signal'>;

/**
 * Reads the whole file, and checks the remaining jobs as far as possible before anything is sent.
 * @throws Failure with all problems, by line
 */
export async function checkJobs(
  batch: CheckContext,
  file: JobsFile,
  journal: Journal,
): Promise<{ readonly keys: JobKeys; readonly before: EarlierRuns }> {
  const keys = new JobKeys();
  const before = { done: 0, failed: 0, credits: 0 };
  const problems = new Problems();
  const paths = new Map<string, number>();
  let isSaving = batch.flags.output !== undefined;
  for await (const job of readJobs(file, keys, problems.add)) {
    batch.signal.throwIfAborted();
    isSaving ||= job.record.output !== undefined;
    const end = findJobEnd(batch.flags, journal, job);
    if (!end) await checkOne(batch, journal, job, paths).catch((error) => problems.addFrom(job.line, error));
    else {
      before[end] += 1;
      before.credits += journal.get(job.key).credits ?? 0;
    }
  }
  problems.throwIfAny(file.name);
  if (keys.size === 0) throw usage(`There are no jobs in ${file.name}.`);
  const unused = ['receipt', 'force'].find((flag) => !isSaving && batch.flags[flag]);
  if (unused) throw usage(`--${unused} requires --output, here or in a line; nothing is saved without it.`);
  return { keys, before };
}

/**
 * Reads the remaining jobs from the file again.
 * @throws Failure if the file changed after it was checked
 */
export async function* readRemainingJobs(
  batch: Pick<CheckContext, 'flags'>,
  file: JobsFile,
  journal: Journal,
  keys: JobKeys,
): AsyncGenerator<WrittenJob> {
  const changed = () =>
    usage(
      `${file.name} was changed while its jobs ran.`,
      'Run the same command again to continue with the changed file.',
    );
  const note = () => {
    throw changed();
  };
  for await (const job of readJobs(file, new JobKeys(), note)) {
    if (keys.findLine(job.key) !== job.line) throw changed();
    if (!findJobEnd(batch.flags, journal, job)) yield job;
  }
}

/** Reads the jobs of a file one by one. `note` is called with the problems of invalid lines. */
async function* readJobs(
  file: JobsFile,
  keys: JobKeys,
  note: (problem: FailureDetail) => void,
): AsyncGenerator<WrittenJob> {
  for await (const one of readJobLines(file)) {
    const { line } = one;
    if ('problem' in one) note({ path: `line ${line}`, message: one.problem });
    else {
      const known = keys.next(line, one.record);
      if ('problem' in known) note({ path: `line ${line}: id`, message: known.problem });
      else yield { line, key: known.key, record: one.record };
    }
  }
}

/** How a job ended; undefined if it is not done, or is to be retried. */
function findJobEnd(flags: FlagValues, journal: Journal, { key }: WrittenJob): 'done' | 'failed' | undefined {
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
  // The image of a running task may be gone, and its results may be saved in part.
  const isUnderWay = state.entry !== undefined && state.end === undefined;
  if (state.task_id !== undefined && isUnderWay) return;
  const { name } = await planLine(command, batch);
  const path = destination?.firstPath(name);
  if (path === undefined) return;
  const other = paths.get(path);
  if (other !== undefined) throw usage(`The result would overwrite the one of line ${other}: ${path}`);
  paths.set(path, written.line);
  if (!isUnderWay && !destination?.how.force && existsSync(path)) throw toExistsError(path);
}

/** More problems are counted, but not shown. */
const MAX_SHOWN = 50;

export class Problems {
  #count = 0;
  readonly #shown: FailureDetail[] = [];

  readonly add = (problem: FailureDetail): void => {
    this.#count += 1;
    if (this.#shown.length < MAX_SHOWN) this.#shown.push(problem);
  };

  addFrom(line: number, error: unknown): void {
    if (!(error instanceof Failure) && !(error instanceof FlowError)) throw error;
    const { details = [] } = error.facts;
    if (details.length === 0) this.add({ path: `line ${line}`, message: error.message });
    for (const { path, message } of details) this.add({ path: `line ${line}: ${path}`, message });
  }

  /** @throws Failure with the first of them, if there are any */
  throwIfAny(file: string): void {
    const [first] = this.#shown;
    if (!first) return;
    const hidden = this.#count - this.#shown.length;
    const message =
      this.#count === 1
        ? `${file}, ${formatDetail(first).replace(/\.$/, '')}; nothing was sent.`
        : `${this.#count} problems in ${file}; nothing was sent.`;
    throw new Failure(message, {
      code: 'invalid_request',
      details: this.#shown,
      ...(hidden > 0 && { hint: `${hidden} more are not shown.` }),
    });
  }
}
