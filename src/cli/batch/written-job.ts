import type { FlagValues, ParsedCommand } from '../command/command.js';
import { type Job, type PlanContext, planJobs } from '../generation/plan.js';
import { usage } from '../terminal/failure.js';
import { sanitizeName } from '../terminal/save.js';
import { parseRecord } from './parse-line.js';

/** A job as its line has it. */
export interface WrittenJob {
  readonly line: number;
  /** What it is known by. */
  readonly key: string;
  readonly record: Readonly<Record<string, unknown>>;
}

/**
 * The command that a line stands for. What the line leaves open, the batch's own flags say.
 * @throws Failure with everything in the line that is none of the command's
 */
export function parseJob(batch: FlagValues, { line, key, record }: WrittenJob): ParsedCommand {
  const { command, args, flags } = parseRecord(record);
  const merged: FlagValues = { ...inheritFlags(batch, flags), ...flags };
  const named =
    typeof merged.output === 'string' && withPlaces(merged.output, { line: String(line), id: key });
  return { command, args, flags: { ...merged, ...(named && { output: named }) } };
}

/** The batch's own flags; those about saving mean nothing to a line whose results are not saved. */
function inheritFlags(batch: FlagValues, own: FlagValues): FlagValues {
  if (batch.output !== undefined || own.output !== undefined) return batch;
  const { force, receipt, ...others } = batch;
  return others;
}

/** Besides what every `--output` knows: the job's line and id. */
function withPlaces(pattern: string, places: { readonly line: string; readonly id: string }): string {
  return pattern.replace(/\{(line|id)\}/g, (_, word: 'line' | 'id') => sanitizeName(places[word]));
}

/** @throws Failure with everything that is wrong with the job */
export async function planLine(line: ParsedCommand, context: PlanContext): Promise<Job> {
  const [job, ...more] = await planJobs(line, context);
  if (!job || more.length > 0) throw usage('A line is one job; give each image a line of its own.');
  const isPiped = Object.values(job.images)
    .flat()
    .some(({ kind }) => kind === 'stdin');
  if (isPiped) throw usage('An image of a batch cannot come from standard input.');
  return job;
}
