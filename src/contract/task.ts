import { z } from 'zod';
import { operation } from './operation.js';
import { DateTime } from './rules.js';

/** What a task of any kind cost and came to: facts that the answers of service.md have no field for. */
export const TaskAccount = z
  .object({
    task_id: z.string(),
    operation: z.string().meta({ description: 'What started it, such as image.relight' }),
    status: z.string().meta({ description: 'As the operation for its own kind spells it' }),
    credits: z.number().meta({ description: 'What it cost; 0 where that was given back' }),
    seed: z.number().meta({ description: 'What chance it was made with' }),
    reason: z.string().optional().meta({ description: 'Why it failed' }),
    created_at: DateTime,
  })
  .meta({ id: 'TaskAccount' });

export const task = {
  get: operation({
    method: 'GET',
    path: '/users/tasks/{task_id}',
    summary: 'Show what a task cost, its seed and why it failed',
    auth: 'bearer',
    response: TaskAccount,
    extension: true,
  }),
};
