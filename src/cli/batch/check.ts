import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { hasCode } from '../../contract/has-code.js';
import { FlowError } from '../../flows/flow-error.js';
import type { Job } from '../../flows/tasks/start-task.js';
import type { Needs } from '../connect/context.js';
import { openDestination, readWaitFlags } from '../generation/finish-task.js';
import type { PlanContext } from '../generation/plan.js';
import type { PricedJob } from '../generation/price.js';
import {
  exitCodes,
  Failure,
  type FailureDetail,
  findExit,
  formatDetail,
  usage,
} from '../terminal/failure.js';
import type { EarlierRuns } from './batch-progress.js';
import { findChange, findState } from './job-state.js';
import { type JobsFile, readJobLines } from './jobs-file.js';
import type { JobState, Journal } from './journal.js';
import { parseJob, planLine, type WrittenJob } from './written-job.js';

type CheckContext = PlanContext & Needs<'flags' | 'signal'>;

export interface CheckedJobs {
  /** The line of each job by its key. */
  readonly lines: ReadonlyMap<string, number>;
  /** The jobs that ended in earlier runs, by their keys. */
  readonly ended: ReadonlyMap<string, 'done' | 'failed'>;
  readonly before: EarlierRuns;
  /** The jobs that are to be sent, by their keys. */
  readonly unsent: ReadonlyMap<string, PricedJob>;
  /** How many jobs are done, but do not have their files. */
  readonly unsaved: number;
}

/**
 * Reads the whole file, and checks the remaining jobs as far as possible before anything is sent.
 * @throws Failure with all problems, by line
 */
export async function checkJobs(batch: CheckContext, file: JobsFile, journal: Journal): Promise<CheckedJobs> {
  const lines = new Map<string, number>();
  const ended = new Map<string, 'done' | 'failed'>();
  const unsent = new Map<string, PricedJob>();
  const before = { done: 0, failed: 0, credits: 0, exits: new Set<number>() };
  const problems = new Problems();
  const paths = new Map<string, number>();
  let isSaving = batch.flags.output !== undefined;
  let unsaved = 0;
  for await (const job of readJobs(file, lines, problems.add)) {
    batch.signal.throwIfAborted();
    isSaving ||= job.record.output !== undefined;
    const known = journal.get(job.key);
    const state = await findState(batch, known, job);
    const change = await findChange(batch.ledger, state, job);
    const { end, credits = 0, code = 'task_failed', exit = findExit(code) } = state;
    if (change)
      problems.addChanged(
        job,
        state,
        change === 'line' ? '' : `uses ${relative(batch.system.cwd, change.file)}, which `,
      );
    else if (end) {
      ended.set(job.key, end);
      before[end] += 1;
      before.credits += credits;
      before.exits.add(end === 'done' ? exitCodes.done : exit);
    } else {
      if (known.end === 'done' && state.task_id !== undefined) unsaved += 1;
      try {
        const planned = await checkOne(batch, state, job, paths);
        if (planned) unsent.set(job.key, { operation: planned.operation, body: planned.body });
      } catch (error) {
        problems.addFrom(job.line, error);
      }
    }
  }
  problems.throwIfAny(file.name);
  if (lines.size === 0) throw usage(`There are no jobs in ${file.name}.`);
  const unused = ['receipt', 'force'].find((flag) => !isSaving && batch.flags[flag]);
  if (unused) throw usage(`--${unused} requires --output, here or in a line; nothing is saved without it.`);
  return { lines, ended, before, unsent, unsaved };
}

/**
 * Reads the remaining jobs from the file again.
 * @throws Failure if the file changed after it was checked
 */
export async function* readRemainingJobs(
  file: JobsFile,
  { lines, ended }: CheckedJobs,
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
    if (!ended.has(job.key)) yield job;
  }
}

/** Reads the jobs that ended in earlier runs, and how. */
export async function* readEndedJobs(
  file: JobsFile,
  { ended }: CheckedJobs,
): AsyncGenerator<WrittenJob & { readonly end: 'done' | 'failed' }> {
  for await (const job of readJobs(file, new Map(), () => undefined)) {
    const end = ended.get(job.key);
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
    const digest = 'id' in one.record ? computeDigest(withoutHandling(one.record)) : undefined;
    yield { line, key, record: one.record, keyNoun, digest };
  }
}

const MAX_ID_CHARACTERS = 200;

function readId(id: unknown): string | undefined {
  const text = typeof id === 'number' ? String(id) : id;
  return typeof text === 'string' && text !== '' && text.length <= MAX_ID_CHARACTERS ? text : undefined;
}

/** A digest of a line, and the number of equal lines so far: the same in every run. */
function hashContent(record: WrittenJob['record'], occurrences: Map<string, number>): string {
  const digest = computeDigest(record);
  const occurrence = (occurrences.get(digest) ?? 0) + 1;
  occurrences.set(digest, occurrence);
  return `${digest}-${occurrence}`;
}

function computeDigest(record: WrittenJob['record']): string {
  return createHash('sha256').update(toCanonicalJson(record)).digest('hex').slice(0, 16);
}

/** Leaves out what decides how a result is waited for and saved, which may change while a job is not done. */
function withoutHandling(record: WrittenJob['record']): WrittenJob['record'] {
  const { output, force, receipt, timeout, interval, ...request } = record;
  return request;
}

/** Sorts the keys, so that equal objects give equal text. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

/** @returns the job, if it is to be sent */
async function checkOne(
  batch: CheckContext,
  state: JobState,
  written: WrittenJob,
  paths: Map<string, number>,
): Promise<Job | undefined> {
  const command = parseJob(batch.flags, written);
  const destination = openDestination(batch.system.cwd, command.flags, true);
  readWaitFlags(command.flags);
  // The image of a running task may be gone, and its results may be saved in part.
  if (state.task_id !== undefined) return undefined;
  const job = await planLine(command, batch);
  const path = destination?.firstPath(job.name);
  if (path === undefined) return job;
  const other = paths.get(path);
  if (other !== undefined) throw usage(`The result would overwrite the one of line ${other}: ${path}`);
  paths.set(path, written.line);
  if (state.entry === undefined) destination?.check([job.name]);
  return job;
}

/** More problems are counted, but not shown. */
const MAX_SHOWN = 50;

class Problems {
  readonly #hints = new Set<string>();
  readonly #shown = new Map<
    string,
    Omit<FailureDetail, 'path'> & { readonly lines: string[]; readonly rest: string }
  >();
  #hidden = 0;

  /** What several lines have in common, such as a column that does not exist, is one problem. */
  readonly add = ({ path, message }: FailureDetail): void => {
    const [, line = '', rest = path] = /^line (\d+)(.*)$/s.exec(path) ?? [];
    const key = JSON.stringify([rest, message]);
    const known = this.#shown.get(key);
    if (known) known.lines.push(line);
    else if (this.#shown.size < MAX_SHOWN) this.#shown.set(key, { message, lines: [line], rest });
    else this.#hidden += 1;
  };

  addFrom(line: number, error: unknown): void {
    if (!(error instanceof Failure) && !(error instanceof FlowError)) throw error;
    const { details = [] } = error.facts;
    if (hasCode(error, 'file_exists')) this.#hints.add('Pass --force to overwrite files.');
    if (details.length === 0) this.add({ path: `line ${line}`, message: error.message });
    for (const { path, message } of details) this.add({ path: `line ${line}: ${path}`, message });
  }

  /** @param subject which image of the job it is, if it is not the line */
  addChanged({ line, key, digest }: WrittenJob, { end }: JobState, subject: string): void {
    this.#hints.add(
      'Give a changed job another id, or pass --rerun-changed to send it again, with --force to overwrite its file.',
    );
    const since = end === 'done' ? 'was done' : end === 'failed' ? 'failed' : 'was sent';
    this.add({
      path: digest === undefined ? `line ${line}` : `line ${line}: ${key}`,
      message: `${subject}has changed since it ${since}`,
    });
  }

  /** @throws Failure with the first of them, if there are any */
  throwIfAny(file: string): void {
    const details = [...this.#shown.values()].map(({ lines, rest, message }) => ({
      path: nameLines(lines) + rest,
      message,
    }));
    const [first] = details;
    if (!first) return;
    const count = details.length + this.#hidden;
    const message =
      count === 1
        ? `${file}, ${formatDetail(first).replace(/\.$/, '')}; nothing was sent.`
        : `${count} problems in ${file}; nothing was sent.`;
    const more = this.#hidden > 0 ? [`${this.#hidden} more are not shown.`] : [];
    const hint = [...more, ...this.#hints].join(' ');
    throw new Failure(message, {
      code: 'invalid_request',
      details,
      ...(hint && { hint }),
    });
  }
}

const MAX_NAMED = 3;

/** Such as `line 2`, `lines 2, 5 and 9` or `lines 2, 3, 4 and 21 more`. */
function nameLines(lines: readonly string[]): string {
  const [only = ''] = lines;
  if (lines.length === 1) return only && `line ${only}`;
  const named = lines.slice(0, lines.length > MAX_NAMED ? MAX_NAMED : -1).join(', ');
  const last = lines.length > MAX_NAMED ? `${lines.length - MAX_NAMED} more` : lines.at(-1);
  return `lines ${named} and ${last}`;
}
