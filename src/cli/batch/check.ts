import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { FlowError } from '../../flows/flow-error.js';
import { toExistsError } from '../../flows/save-file.js';
import type { FlagValues } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { openDestination, readWaitFlags } from '../generation/finish-task.js';
import type { PlanContext } from '../generation/plan.js';
import { Failure, type FailureDetail, formatDetail, usage } from '../terminal/failure.js';
import type { EarlierRuns } from './batch-progress.js';
import { type JobsFile, readJobLines } from './jobs-file.js';
import type { Journal } from './journal.js';
import { parseJob, planLine, type WrittenJob } from './written-job.js';

type CheckContext = PlanContext & Needs<'flags' | 'signal'>;

/**
 * Reads the whole file, and checks the remaining jobs as far as possible before anything is sent.
 * @returns the line of each job by its key, and what earlier runs did
 * @throws Failure with all problems, by line
 */
export async function checkJobs(
  batch: CheckContext,
  file: JobsFile,
  journal: Journal,
): Promise<{ readonly lines: ReadonlyMap<string, number>; readonly before: EarlierRuns }> {
  const lines = new Map<string, number>();
  const before = { done: 0, failed: 0, credits: 0 };
  const problems = new Problems();
  const paths = new Map<string, number>();
  let isSaving = batch.flags.output !== undefined;
  for await (const job of readJobs(file, lines, problems.add)) {
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
  if (lines.size === 0) throw usage(`There are no jobs in ${file.name}.`);
  const unused = ['receipt', 'force'].find((flag) => !isSaving && batch.flags[flag]);
  if (unused) throw usage(`--${unused} requires --output, here or in a line; nothing is saved without it.`);
  return { lines, before };
}

/**
 * Reads the remaining jobs from the file again.
 * @throws Failure if the file changed after it was checked
 */
export async function* readRemainingJobs(
  batch: Pick<CheckContext, 'flags'>,
  file: JobsFile,
  journal: Journal,
  lines: ReadonlyMap<string, number>,
): AsyncGenerator<WrittenJob> {
  const changed = () =>
    usage(
      `${file.name} was changed while its jobs ran.`,
      'Run the same command again to continue with the changed file.',
    );
  const note = () => {
    throw changed();
  };
  for await (const job of readJobs(file, new Map(), note)) {
    if (lines.get(job.key) !== job.line) throw changed();
    if (!findJobEnd(batch.flags, journal, job)) yield job;
  }
}

/** Reads the jobs that ended in earlier runs, and how. */
export async function* readEndedJobs(
  batch: Pick<CheckContext, 'flags'>,
  file: JobsFile,
  journal: Journal,
): AsyncGenerator<WrittenJob & { readonly end: 'done' | 'failed' }> {
  for await (const job of readJobs(file, new Map(), () => undefined)) {
    const end = findJobEnd(batch.flags, journal, job);
    if (end) yield { ...job, end };
  }
}

/**
 * Reads the jobs of a file one by one.
 * @param lines is filled with the line of each job by its key
 * @param note called with the problems of invalid lines
 */
async function* readJobs(
  file: JobsFile,
  lines: Map<string, number>,
  note: (problem: FailureDetail) => void,
): AsyncGenerator<WrittenJob> {
  const occurrences = new Map<string, number>();
  for await (const one of readJobLines(file)) {
    const { line } = one;
    if ('problem' in one) {
      note({ path: `line ${line}`, message: one.problem });
      continue;
    }
    const key = 'id' in one.record ? readId(one.record.id) : hashContent(one.record, occurrences);
    const before = lines.get(key ?? '');
    if (key === undefined || before !== undefined) {
      const message =
        before === undefined
          ? `must be text of 1 to ${MAX_ID_CHARACTERS} characters`
          : `is already used in line ${before}`;
      note({ path: `line ${line}: id`, message });
      continue;
    }
    lines.set(key, line);
    const keyNoun = file.format === 'csv' ? 'column' : 'field';
    yield { line, key, record: one.record, keyNoun };
  }
}

const MAX_ID_CHARACTERS = 200;

function readId(id: unknown): string | undefined {
  const text = typeof id === 'number' ? String(id) : id;
  return typeof text === 'string' && text !== '' && text.length <= MAX_ID_CHARACTERS ? text : undefined;
}

/** A digest of a line, and the number of equal lines so far: the same in every run. */
function hashContent(record: WrittenJob['record'], occurrences: Map<string, number>): string {
  const digest = createHash('sha256').update(toCanonicalJson(record)).digest('hex').slice(0, 16);
  const occurrence = (occurrences.get(digest) ?? 0) + 1;
  occurrences.set(digest, occurrence);
  return `${digest}-${occurrence}`;
}

/** Sorts the keys, so that equal objects give equal text. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
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

class Problems {
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
