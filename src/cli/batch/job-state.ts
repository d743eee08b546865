import { existsSync } from 'node:fs';
import type { FlagValues } from '../command/command.js';
import type { JobState } from './journal.js';
import type { WrittenJob } from './written-job.js';

/** What earlier runs recorded about a job, as far as this run goes on from it: nothing if the job is sent again. */
export function findState(flags: FlagValues, known: JobState, job: WrittenJob): JobState {
  if (flags['rerun-changed'] && isChanged(known, job)) return {};
  if (known.end === 'failed') return flags['retry-failed'] ? {} : known;
  if (known.end !== 'done' || hasFiles(known, findOutput(flags, job))) return known;
  // Its results are downloaded again.
  const { end, ...state } = known;
  return state;
}

/** Whether the line of an id has become another one since it was sent. */
export function isChanged({ digest }: JobState, job: WrittenJob): boolean {
  return digest !== undefined && digest !== job.digest;
}

/** Where results go, as it was written in the line or on the command line. */
export function findOutput({ output }: FlagValues, { record }: WrittenJob): string | undefined {
  const given = record.output ?? output;
  return typeof given === 'string' ? given : undefined;
}

/** Whether all results of a job that is done are where they should be. */
function hasFiles({ output, saved }: JobState, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const isThere = saved?.every((path) => existsSync(path)) === true;
  // Earlier releases did not record where it was.
  return isThere && (output ?? wanted) === wanted;
}
