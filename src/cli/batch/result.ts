import { relative } from 'node:path';
import type { Output } from '../terminal/output.js';
import { formatCell } from '../terminal/rows.js';
import { formatField, oneLine } from '../terminal/text.js';
import type { JobResult } from '../views/answers.js';
import type { JobState } from './journal.js';
import type { JobEnd } from './run-job.js';
import type { WrittenJob } from './written-job.js';

export function toResult(
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

/** Prints a result: as JSON, as tab-separated values, or on a terminal as a sentence, because rows come one by one. */
export async function printResult(output: Output, result: JobResult): Promise<void> {
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
