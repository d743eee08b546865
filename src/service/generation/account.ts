import type { z } from 'zod';
import type { TaskAccount } from '../../contract/task.js';
import type { Context, Database } from '../context.js';
import type { Caller } from '../http/authenticate.js';
import { creditsOf } from './credits.js';
import { visibleTask } from './visible.js';

interface AccountCall {
  readonly params: { readonly task_id: string };
  readonly caller: Caller;
  readonly context: Context;
}

/** Answers what a task of any kind cost and came to. */
export async function taskAccount(
  call: AccountCall,
  database: Database,
): Promise<z.output<typeof TaskAccount>> {
  const task = await visibleTask(call, database);
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
