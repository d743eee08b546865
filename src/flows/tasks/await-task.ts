import { basename } from 'node:path';
import { type WaitOptions, wait } from '../../client/wait.js';
import type { Saved } from '../save-file.js';
import { addStatement } from '../trust/receipt.js';
import type { Destination } from './destination.js';
import { isImageReference } from './image-reference.js';
import type { Entry } from './ledger.js';
import { readAccount, readTask, type Task, type TaskContext } from './task.js';
import { findEnd, type TaskFigures, type TaskState } from './task-state.js';

/**
 * Waits until a task has ended.
 * @throws StillRunningError after `timeoutMs`, with the latest state
 */
export function awaitTask(
  context: TaskContext,
  task: Task,
  options: Omit<WaitOptions<TaskState>, 'isDone' | 'signal'>,
): Promise<TaskState> {
  const isDone = ({ state }: TaskState) => findEnd(state) !== undefined;
  return wait(() => readTask(context, task), { ...options, isDone, signal: context.signal });
}

/**
 * Downloads the results of a task, and records their paths in the ledger.
 * @returns the paths
 */
export async function saveResults(
  context: TaskContext,
  task: Task,
  { outputs, facts }: TaskState,
  destination: Destination,
  onSaved: (saved: Saved) => Promise<void>,
): Promise<readonly string[]> {
  const { services, ledger, signal } = context;
  const { client, signer } = await services.reach(task.target);
  const name = task.entry?.name ?? task.kind;
  const figures = { ...facts, ...(destination.how.receipt && (await readAccount(context, task))) };
  const paths: string[] = [];
  for (const [at, url] of outputs.entries()) {
    const saved = await destination.save(client, url, { name, task_id: task.id, index: at + 1 }, signal);
    paths.push(saved.path);
    await onSaved(saved);
    if (!destination.how.receipt) continue;
    const receipt = formatReceipt(task, figures, saved);
    await destination.writeReceipt(saved, signer ? await addStatement(signer, task.id, receipt) : receipt);
  }
  if (task.entry) await ledger.change(task.entry.id, { saved: paths });
  return paths;
}

type Figures = TaskFigures & { readonly operation?: string };

/** Leaves the names of images without the folders that they were in, because receipts are given to others. */
function nameFiles(request: Entry['request']): Entry['request'] {
  const name = (value: unknown) =>
    isImageReference(value) && value.file !== undefined ? { ...value, file: basename(value.file) } : value;
  return Object.fromEntries(
    Object.entries(request).map(([field, value]) => [
      field,
      Array.isArray(value) ? value.map(name) : name(value),
    ]),
  );
}

/** The request and its result; `null` for what the service does not report. */
function formatReceipt({ id, target, entry }: Task, figures: Figures, saved: Saved): object {
  return {
    task_id: id,
    service: entry?.service ?? target.baseUrl ?? 'local',
    operation: figures.operation ?? entry?.operation ?? null,
    request: entry ? nameFiles(entry.request) : null,
    created_at: entry?.created_at ?? null,
    seed: figures.seed ?? entry?.seed ?? entry?.request.seed ?? null,
    credits: figures.credits ?? entry?.credits ?? null,
    sha256: saved.sha256,
    bytes: saved.bytes,
  };
}
