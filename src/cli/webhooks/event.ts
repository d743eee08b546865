import type { ImageTask } from '../../contract/image-task.js';
import { readTaskState, type TaskState } from '../generation/task.js';
import { oneLine } from '../terminal/text.js';

/** What a webhook told. */
export interface Event {
  /** Its webhook-id, the same over retries. */
  readonly id: string;
  /** Such as `image.task.updated`. */
  readonly name: string;
  readonly taskId: string | undefined;
  readonly seen: TaskState | undefined;
  /** Byte by byte. */
  readonly body: Uint8Array;
  /** As they came. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Read from the service, because nothing came. */
  readonly caughtUp: boolean;
  /** Webhooks that have nothing to add to it. */
  readonly replaces?: readonly string[];
}

type Sent = Pick<Event, 'id' | 'body' | 'headers'> & { readonly header: string };

/** Reads a verified webhook. Its kind is told by the body: the header is not signed. */
export function parseEvent({ id, body, headers, header }: Sent): Event {
  const told = parseBody(body);
  const { task_id, status, id: videoId, state } = (told ?? {}) as Record<string, unknown>;
  const own = { id, body, headers, caughtUp: false };
  if (typeof task_id === 'string' && typeof status === 'string') {
    const answer = { generated: [], ...(told as object) } as unknown as ImageTask;
    return { ...own, name: 'image.task.updated', taskId: task_id, seen: readTaskState('image', answer) };
  }
  if (typeof videoId === 'string' && typeof state === 'string') {
    return { ...own, name: 'video.task.updated', taskId: videoId, seen: readTaskState('video', told) };
  }
  return { ...own, name: oneLine(header), taskId: undefined, seen: undefined };
}

/** The event as one line of `--json`. */
export function formatEvent({ id, name, taskId, seen, body, caughtUp }: Event): object {
  const task = { task_id: taskId, state: seen?.state };
  return { id, event: name, ...task, caught_up: caughtUp, body: parseBody(body) ?? null };
}

function parseBody(body: Uint8Array): object | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
