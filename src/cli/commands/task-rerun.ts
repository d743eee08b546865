import { existsSync } from 'node:fs';
import { getOutline } from '../../client/outlines.js';
import { MAX_GIVEN_BYTES, readFolderFile } from '../../disk/folder-file.js';
import { type ImageReference, isImageReference, toReference } from '../../flows/tasks/image-reference.js';
import type { Entry } from '../../flows/tasks/ledger.js';
import type { ImageSource, Job } from '../../flows/tasks/start-task.js';
import { findTarget } from '../../flows/tasks/task.js';
import type { ParsedCommand } from '../command/command.js';
import { printDryRun } from '../command/dry-run.js';
import type { Needs } from '../connect/context.js';
import { toReadable } from '../generation/preview.js';
import { usage } from '../terminal/failure.js';
import { describeAnyTask } from '../views/answers.js';
import { startFlags, taskExplain } from '../views/flags.js';
import type { View } from '../views/view.js';
import { runJobs } from './generate.js';
import { requireEntry } from './task-ledger.js';

type Context = ParsedCommand &
  Needs<'system' | 'output' | 'interruption' | 'signal' | 'settings' | 'ledger' | 'services' | 'mayAsk'> &
  Needs<'folders' | 'connect'>;

export const view = (): View => ({
  usage: 'task rerun <task_id>',
  changes: true,
  summary:
    'Send the request of a task again; if it was answered before, this is a new task with a new charge',
  explain: taskExplain,
  flags: startFlags,
  examples: ['regen task rerun 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 -o again.png'],
  answer: describeAnyTask(),
});

export async function run(context: Context): Promise<number | undefined> {
  const entry = requireEntry(context, context.args.task_id as string);
  const job = rebuildJob(entry);
  context.services.use(findTarget(context, entry));
  if (context.flags['dry-run']) {
    await printDryRun(context, getOutline(entry.operation), { body: toReadable(entry.request) });
    return undefined;
  }
  if (entry.task_id !== undefined) {
    await context.output.note(
      `Task ${entry.task_id} was already started. This is a new task, and is paid for again.`,
    );
  }
  const choice = entry.task_id === undefined ? { known: entry.id } : 'new';
  return runJobs(context, [job], choice);
}

function rebuildJob({ operation, request, name }: Entry): Job {
  const images: Record<string, ImageSource | ImageSource[]> = {};
  const body: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(request)) {
    if (Array.isArray(value) && value.some(isImageReference))
      images[field] = value.map((one) => findSentImage(field, one));
    else if (isImageReference(value)) images[field] = findSentImage(field, value);
    else body[field] = value;
  }
  return { operation, body, images, name };
}

/** Finds the image that was sent, if its file has not changed. */
function findSentImage(field: string, kept: ImageReference | string): ImageSource {
  if (typeof kept === 'string') return { kind: 'url', url: kept };
  if (kept.file === undefined) {
    throw usage(
      `The ${field} came from standard input and was not saved.`,
      'Run the original command again.',
    );
  }
  const now = existsSync(kept.file) ? toReference(readFolderFile(kept.file, MAX_GIVEN_BYTES)) : undefined;
  if (now?.sha256 === kept.sha256) return { kind: 'file', path: kept.file, bytes: kept.bytes };
  throw usage(`${kept.file} has changed since it was sent.`, 'Run the original command again.');
}
