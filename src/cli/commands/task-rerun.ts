import { existsSync, readFileSync } from 'node:fs';
import { getOperation } from '../../contract/index.js';
import { printDryRun } from '../command/dry-run.js';
import { type Entry, type ImageReference, isImageReference } from '../connect/ledger.js';
import { type ImageSource, toReference } from '../generation/images.js';
import type { Job } from '../generation/plan.js';
import { runJobs } from '../generation/run-jobs.js';
import { toReadable } from '../generation/start.js';
import { findEntry, findTarget } from '../generation/task.js';
import { usage } from '../terminal/failure.js';
import type { CommandContext } from './context.js';
import { notInLedger } from './task-show.js';

/** Sends the request of an entry again. */
export async function run(context: CommandContext): Promise<number | undefined> {
  const id = context.args.task_id as string | undefined;
  if (!id) throw usage('<task_id> is required.');
  const entry = findEntry(context, id);
  if (!entry) throw notInLedger(id);
  const job = rebuildJob(entry);
  if (context.flags['dry-run']) {
    const request = { params: {}, query: {}, body: toReadable(entry.request) };
    await printDryRun(context, getOperation(entry.operation), request);
    return undefined;
  }
  if (entry.task_id !== undefined) {
    await context.output.note(`This is a new task, paid for again: ${entry.task_id} was answered.`);
  }
  const choice = entry.task_id === undefined ? { known: entry.id } : 'new';
  return runJobs(context, [job], findTarget(context, entry), choice);
}

function rebuildJob({ operation, request, name }: Entry): Job {
  const images: Record<string, ImageSource | ImageSource[]> = {};
  const body: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(request)) {
    if (Array.isArray(value) && value.some(isImageReference))
      images[field] = value.map((one) => sameImage(field, one));
    else if (isImageReference(value)) images[field] = sameImage(field, value);
    else body[field] = value;
  }
  return { operation, body, images, name };
}

/** The image that was sent before, if it still lies where it lay. */
function sameImage(field: string, kept: ImageReference | string): ImageSource {
  if (typeof kept === 'string') return { kind: 'url', url: kept };
  if (kept.file === undefined) {
    throw usage(`The ${field} was piped in and is not kept.`, 'Run the command itself again.');
  }
  const now = existsSync(kept.file) ? toReference(readFileSync(kept.file)) : undefined;
  if (now?.sha256 === kept.sha256) return { kind: 'file', path: kept.file, bytes: kept.bytes };
  throw usage(`${kept.file} is not the image any more that was sent then.`, 'Run the command itself again.');
}
