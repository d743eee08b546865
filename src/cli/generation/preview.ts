import { getOutline } from '../../client/outlines.js';
import { getTaskFacts } from '../../contract/index.js';
import { isImageReference } from '../../flows/tasks/image-reference.js';
import { type Job, loadImages } from '../../flows/tasks/start-task.js';
import { type PrintedRequest, toPrintedRequest } from '../command/dry-run.js';
import { readBytes } from '../terminal/stdin.js';
import type { System } from '../terminal/system.js';

/** The request that a job would send, with descriptions in place of images. */
export async function previewJob({ stdin }: Pick<System, 'stdin'>, job: Job): Promise<PrintedRequest> {
  const { operation, body, images, fromTask } = job;
  const { kept } = await loadImages(images, getTaskFacts(operation).kind, () => readBytes(stdin));
  const made = fromTask === undefined ? {} : formatCreation(fromTask);
  return toPrintedRequest(getOutline(operation), { body: toReadable({ ...kept, ...body, ...made }) });
}

export function toReadable(request: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(request).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(describeValue) : describeValue(value),
  ]);
  return Object.fromEntries(entries);
}

function describeValue(value: unknown): unknown {
  if (!isImageReference(value)) return value;
  return `<Base64 of ${value.file ?? 'the given image'}, ${value.bytes} bytes>`;
}

/** Describes a creation that was not read. */
function formatCreation(id: string) {
  return { video_creation_id: `<creation of task ${id}>`, video_url: `<video of task ${id}>` };
}
