import type { z } from 'zod';
import { type ImageTask, imageTaskOf } from '../../contract/image-task.js';
import type { TaskKind } from '../../contract/operation.js';
import type { VideoCreations, VideoTask } from '../../contract/video.js';

/** What an answer tells of a task, of an image or a video alike. */
export interface Seen {
  /** As it came. */
  readonly answer: unknown;
  /** The task's. */
  readonly id: string;
  /** In the service's own word: `IN_PROGRESS`, `queueing`. */
  readonly state: string;
  /** URLs of what it made. */
  readonly outputs: readonly string[];
  /** Why it failed, where the service says so. */
  readonly reason?: string;
  /** The ledger keeps them. */
  readonly facts: Facts;
}

/** What some answers tell beside a task's state. */
export interface Facts {
  readonly credits?: number;
  readonly seed?: number;
}

/** The id and state of the task in an answer to its start, or to a look at it. */
export function readTaskState(kind: TaskKind, answer: unknown): Seen {
  if (kind === 'image') {
    const task = imageTaskOf(answer as ImageTask);
    return { answer, id: task.task_id, state: task.status, outputs: task.generated, facts: factsIn(task) };
  }
  const task = answer as VideoAnswer;
  // Decided: a video's cover is no output of its own; `--json` shows it.
  const outputs = (task.creations ?? []).flatMap(({ url }) => url ?? []);
  const reason = task.err_code;
  const id = task.task_id ?? task.id ?? '';
  return { answer, id, state: task.state, outputs, facts: factsIn(task), ...(reason && { reason }) };
}

type VideoAnswer = Pick<z.infer<typeof VideoTask>, 'state'> &
  Partial<z.infer<typeof VideoTask>> &
  Partial<z.infer<typeof VideoCreations>>;

// No field of an image task, but some services tell them.
function factsIn(task: object): Facts {
  const { credits, seed } = task as Facts;
  return { ...(credits !== undefined && { credits }), ...(seed !== undefined && { seed }) };
}

const ends: Readonly<Record<string, 'well' | 'badly'>> = {
  COMPLETED: 'well',
  FAILED: 'badly',
  success: 'well',
  failed: 'badly',
  // Decided: our own word for a task that its service knows nothing of any more.
  GONE: 'badly',
};

/** How a task in a state has ended. Decided: in any other state it is running. */
export function endOf(state = ''): 'well' | 'badly' | undefined {
  return Object.hasOwn(ends, state) ? ends[state] : undefined;
}
