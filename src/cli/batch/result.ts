import type { Output } from '../terminal/output.js';
import { formatCell } from '../terminal/rows.js';
import { formatField, oneLine } from '../terminal/text.js';
import type { Status } from './batch-progress.js';
import type { JobState } from './journal.js';
import type { End } from './run-job.js';
import type { WrittenJob } from './written-job.js';

/** One line of the answer: what came of a job. */
export interface Result {
  readonly line: number;
  readonly id: string;
  readonly status: Status;
  readonly task_id: string | null;
  readonly credits: number | null;
  /** URLs of what was made, or the paths it was saved at. */
  readonly outputs?: readonly string[];
  readonly saved?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string };
}

export function toResult(
  { line, key }: WrittenJob,
  { status, outcome, failure, isSaved }: End,
  { task_id, credits }: JobState,
): Result {
  const isSent = status !== 'unsent';
  return {
    ...{ line, id: key, status },
    task_id: (isSent && task_id) || null,
    credits: isSent ? (credits ?? null) : null,
    ...(status === 'done' && { [isSaved ? 'saved' : 'outputs']: outcome?.lines ?? [] }),
    ...(failure && { error: { code: failure.facts.code, message: failure.message } }),
  };
}

/** Prints a result: as JSON where that was asked for, else its facts with tabs between. */
export async function printResult(output: Output, result: Result): Promise<void> {
  if (output.mode.ndjson) return output.items([result]);
  const { line, id, status, task_id, credits, outputs, saved, error } = result;
  const facts = [line, id, status, task_id, credits, outputs ?? saved ?? error?.message];
  await output.line(facts.map((fact) => formatField(oneLine(formatCell(fact)))).join('\t'));
}
