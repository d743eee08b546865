import type { z } from 'zod';
import { type ImageTask, unwrapImageTask } from '../../contract/image-task.js';
import type { TaskKind } from '../../contract/operation.js';
import type { VideoCreations, VideoTask } from '../../contract/video.js';

export interface TaskState {
  /** The response in the names of the contract. */
  readonly answer: unknown;
  /** The response as the service sent it. */
  readonly sent: unknown;
  readonly id: string;
  /** In the service's words: `IN_PROGRESS`, `queueing`. */
  readonly state: string;
  /** The URLs of its results. */
  readonly outputs: readonly string[];
  /** Why it failed, if the service says so. */
  readonly reason?: string;
  /** Recorded in the ledger. */
  readonly facts: TaskFigures;
}

/** What some services report in addition to the state. */
export interface TaskFigures {
  readonly credits?: number;
  readonly seed?: number;
  /** Why it failed: a code, and a sentence. */
  readonly err_code?: string | undefined;
  readonly reason?: string | undefined;
}

/** Reads the id and state of a task from the response to its start or to a poll. */
export function readTaskState(kind: TaskKind, answer: unknown, sent = answer): TaskState {
  if (kind === 'image') {
    const task = unwrapImageTask(answer as ImageTask);
    const { task_id: id, status: state, generated: outputs } = task;
    return { answer, sent, id, state, outputs, facts: readFigures(task, state) };
  }
  const task = answer as VideoAnswer;
  const { state, err_code: reason, task_id, id = '' } = task;
  // Decided: the cover of a video is not an output; `--json` shows it.
  const outputs = (task.creations ?? []).flatMap(({ url }) => url ?? []);
  const facts = readFigures(task, state);
  return { answer, sent, id: task_id ?? id, state, outputs, facts, ...(reason && { reason }) };
}

type VideoAnswer = Pick<z.infer<typeof VideoTask>, 'state'> &
  Partial<z.infer<typeof VideoTask>> &
  Partial<z.infer<typeof VideoCreations>>;

// The contract has no credits and seed of image tasks, but some services send them. What failed is refunded.
function readFigures(task: object, state: string): TaskFigures {
  const refunded = findEnd(state) === 'badly' ? 0 : undefined;
  const { credits = refunded, seed, err_code, reason } = task as TaskFigures;
  return {
    ...(credits !== undefined && { credits }),
    ...(seed !== undefined && { seed }),
    ...(err_code && { err_code }),
    ...(reason && { reason }),
  };
}

/** The states in the words of a person, with those of services, which differ for images and videos. */
const STATES = {
  queued: ['created', 'queueing'],
  running: ['in_progress', 'processing'],
  done: ['completed', 'success'],
  failed: [],
  gone: [],
} as const;
type State = keyof typeof STATES;
export const taskStates = Object.keys(STATES) as readonly State[];

/** Reads a state that a person wrote, in any spelling of any service. */
export function parseState(text: string): State | undefined {
  const word = text.toLowerCase();
  return taskStates.find((state) => state === word || STATES[state].some((one) => one === word));
}

/** The state in the words of a person. */
export function describeState(state = ''): State {
  if (state === 'GONE') return 'gone';
  const end = findEnd(state);
  if (end) return end === 'well' ? 'done' : 'failed';
  return parseState(state) === 'queued' ? 'queued' : 'running';
}

const ENDS: Readonly<Record<string, 'well' | 'badly'>> = {
  COMPLETED: 'well',
  FAILED: 'badly',
  success: 'well',
  failed: 'badly',
  // Decided: our own word for a task that its service no longer has.
  GONE: 'badly',
};

/** How a task has ended. Decided: any unknown state is running. */
export function findEnd(state = ''): 'well' | 'badly' | undefined {
  return Object.hasOwn(ENDS, state) ? ENDS[state] : undefined;
}
