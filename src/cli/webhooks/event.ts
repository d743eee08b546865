import type { ImageTask } from '../../contract/image-task.js';
import { isRecord, parseJson } from '../../contract/json.js';
import { readTaskState, type TaskState } from '../../flows/tasks/task-state.js';
import { oneLine } from '../terminal/text.js';

export interface Event {
  /** Its webhook-id, the same in all retries. */
  readonly id: string;
  /** Such as `image.task.updated`. */
  readonly name: string;
  readonly taskId: string | undefined;
  readonly seen: TaskState | undefined;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** It was read from the service, because no webhook arrived. */
  readonly caughtUp: boolean;
  /** Ids of older webhooks of the task, which it makes obsolete. */
  readonly replaces?: readonly string[];
}

/** Parses a verified webhook. Its kind comes from the body, because the header `webhook-event` is not signed. */
export function parseEvent({ id, body, headers }: Pick<Event, 'id' | 'body' | 'headers'>): Event {
  const payload = parseBody(body);
  const { task_id, status, id: videoId, state, type } = (payload ?? {}) as Record<string, unknown>;
  const own = { id, body, headers, caughtUp: false };
  if (typeof task_id === 'string' && typeof status === 'string') {
    const answer = { generated: [], ...(payload as object) } as unknown as ImageTask;
    return { ...own, name: 'image.task.updated', taskId: task_id, seen: readTaskState('image', answer) };
  }
  if (typeof videoId === 'string' && typeof state === 'string') {
    return { ...own, name: 'video.task.updated', taskId: videoId, seen: readTaskState('video', payload) };
  }
  // In the bodies of other services, as Standard Webhooks recommends.
  return { ...own, name: oneLine(typeof type === 'string' ? type : ''), taskId: undefined, seen: undefined };
}

/** The event as one line of `--json`. */
export function formatEvent({ id, name, taskId, seen, body, caughtUp }: Event): object {
  const task = { task_id: taskId, state: seen?.state };
  return { id, event: name, ...task, caught_up: caughtUp, body: parseBody(body) ?? null };
}

function parseBody(body: Uint8Array): object | undefined {
  const value = parseJson(Buffer.from(body).toString('utf8'));
  return isRecord(value) ? value : undefined;
}
