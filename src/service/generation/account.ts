import type { z } from 'zod';
import type { TaskAccount } from '../../contract/task.js';
import type { Context, Database } from '../context.js';
import type { Caller } from '../http/authenticate.js';
import { maySee, noSuchTask } from './view.js';

interface AccountCall {
  readonly params: { readonly task_id: string };
  readonly caller: Caller;
  readonly context: Context;
}

/** Answers what a task of any kind cost and came to. */
export async function taskAccount(
  { params, caller }: AccountCall,
  database: Database,
): Promise<z.output<typeof TaskAccount>> {
  const task = await database
    .selectFrom('tasks')
    .select(['id', 'operation', 'status', 'creator', 'seed', 'reason', 'created_at'])
    .where('id', '=', params.task_id)
    .executeTakeFirst();
  if (!task || !maySee(caller, task.creator)) throw noSuchTask();
  return {
    task_id: task.id,
    operation: task.operation,
    status: task.status,
    credits: await creditsOf(database, task.id),
    seed: Number(task.seed),
    ...(task.reason !== null && { reason: task.reason }),
    created_at: task.created_at,
  };
}

async function creditsOf(database: Database, taskId: string): Promise<number> {
  const entries = await database
    .selectFrom('credits')
    .select(['kind', 'amount'])
    .where('task_id', '=', taskId)
    .execute();
  return entries.reduce((sum, { kind, amount }) => sum + (kind === 'charge' ? amount : -amount), 0);
}
