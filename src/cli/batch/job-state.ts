import { existsSync } from 'node:fs';
import { hasChanged, isImageReference } from '../../flows/tasks/image-reference.js';
import type { Ledger } from '../../flows/tasks/ledger.js';
import type { FlagValues } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import type { JobState } from './journal.js';
import type { WrittenJob } from './written-job.js';

/** What earlier runs recorded about a job, as far as this run goes on from it: nothing if the job is sent again. */
export async function findState(
  { flags, ledger }: Needs<'flags' | 'ledger'>,
  known: JobState,
  job: WrittenJob,
): Promise<JobState> {
  if (flags['rerun-changed'] && (await findChange(ledger, known, job)) !== undefined) return {};
  if (known.end === 'failed') return flags['retry-failed'] ? {} : known;
  if (known.end !== 'done' || hasFiles(known, findOutput(flags, job))) return known;
  // Its results are downloaded again.
  const { end, ...state } = known;
  return state;
}

/** Finds what has become another one since it was sent: the line of an id, or the file of an image, by its path. */
export async function findChange(
  ledger: Ledger,
  { digest, entry: id, saved }: JobState,
  job: WrittenJob,
): Promise<'line' | { readonly file: string } | undefined> {
  if (digest !== undefined && digest !== job.digest) return 'line';
  const entry = id === undefined ? undefined : ledger.read(id);
  for (const image of Object.values(entry?.request ?? {}).flat()) {
    if (!entry || !isImageReference(image) || image.file === undefined) continue;
    // A result may have replaced it.
    const isOther = !saved?.includes(image.file) && (await hasChanged(image, entry.created_at));
    if (isOther) return { file: image.file };
  }
  return undefined;
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
