import type { Saved } from './destination.js';
import type { Task } from './task.js';
import type { Facts } from './task-state.js';

type Told = Facts & { readonly operation?: string };

/** What was asked for and what came of it; `null` where the service does not tell. */
export function receiptOf({ id, target, entry }: Task, told: Told, saved: Saved): object {
  return {
    task_id: id,
    service: entry?.service ?? target.baseUrl ?? 'local',
    operation: told.operation ?? entry?.operation ?? null,
    request: entry?.request ?? null,
    created_at: entry?.created_at ?? null,
    seed: told.seed ?? entry?.seed ?? entry?.request.seed ?? null,
    credits: told.credits ?? entry?.credits ?? null,
    sha256: saved.sha256,
    bytes: saved.bytes,
  };
}
