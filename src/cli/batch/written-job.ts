import { sanitizeName } from '../../flows/save-file.js';
import type { Job } from '../../flows/tasks/start-task.js';
import type { FlagValues, ParsedCommand } from '../command/command.js';
import { type PlanContext, planJobs } from '../generation/plan.js';
import { usage } from '../terminal/failure.js';
import { parseRecord } from './parse-line.js';

/** A job as it is written in its line. */
export interface WrittenJob {
  readonly line: number;
  /** Identifies it in every run. */
  readonly key: string;
  readonly record: Readonly<Record<string, unknown>>;
}

/**
 * Parses the command of a line. The flags of the batch are its defaults.
 * @throws Failure with all keys and values that the command does not take
 */
export function parseJob(batch: FlagValues, { line, key, record }: WrittenJob): ParsedCommand {
  const { command, args, flags } = parseRecord(record);
  const merged: FlagValues = { ...inheritFlags(batch, flags), ...flags };
  const named =
    typeof merged.output === 'string' && fillPlaceholders(merged.output, { line: String(line), id: key });
  return { command, args, flags: { ...merged, ...(named && { output: named }) } };
}

/** The flags of the batch; without those about saving if the results of the line are not saved. */
function inheritFlags(batch: FlagValues, own: FlagValues): FlagValues {
  if (batch.output !== undefined || own.output !== undefined) return batch;
  const { force, receipt, ...others } = batch;
  return others;
}

/** Fills in the placeholders that only a batch has: the line and id of the job. */
function fillPlaceholders(pattern: string, places: { readonly line: string; readonly id: string }): string {
  return pattern.replace(/\{(line|id)\}/g, (_, word: 'line' | 'id') => sanitizeName(places[word]));
}

/** @throws Failure with all problems of the job */
export async function planLine(line: ParsedCommand, context: PlanContext): Promise<Job> {
  const [job, ...more] = await planJobs(line, context);
  if (!job || more.length > 0) throw usage('A line is one job; write each image in its own line.');
  const isPiped = Object.values(job.images)
    .flat()
    .some(({ kind }) => kind === 'stdin');
  if (isPiped) throw usage('An image of a batch cannot come from standard input.');
  return job;
}
