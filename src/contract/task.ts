import { z } from 'zod';
import { failureFields } from './image-task.js';
import { operation } from './operation.js';
import { definePage, Paging } from './paging.js';
import { DateTime } from './schema/identifiers.js';
import { defineObject } from './schema/values.js';
import { Envelope } from './statement.js';

/** The cost and outcome of a task of any kind: facts that the responses of service.md have no fields for. */
export const TaskAccount = defineObject('TaskAccount', {
  task_id: z.string(),
  operation: z.string().describe('Operation that started it, such as image.relight'),
  status: z.string().describe('Status, as the status operation of its kind spells it'),
  credits: z.number().describe('Cost in credits; 0 if it was refunded'),
  refunded: z.number().optional().describe('Credits that were given back'),
  seed: z.number().describe('Random seed that was used'),
  ...failureFields,
  created_at: DateTime,
});

const ListedTask = TaskAccount.extend({
  results: z.array(z.string()).describe('Signed URLs of what it made, valid for 7 days'),
}).meta({ id: 'ListedTask' });

export const task = {
  list: operation('GET /users/tasks', {
    summary: 'List your tasks, newest first',
    tool: true,
    who: 'bearer',
    query: Paging.extend({
      key_id: z.string().max(64).optional().describe('Only tasks that this API key started'),
      state: z.enum(['unfinished']).optional().describe('Only tasks that have not ended'),
    }),
    response: definePage({ tasks: z.array(ListedTask) }),
    extension: 'finds tasks without their ids',
  }),
  get: operation('GET /users/tasks/{task_id}', {
    summary: 'Show the cost, the seed and the failure reason of a task',
    who: 'bearer',
    response: TaskAccount,
    extension: 'credits, seed and failure of a task of any kind',
  }),
  statement: operation('GET /users/tasks/{task_id}/statement', {
    summary: 'Show the signed statement of the service on the results and the cost of a task, as DSSE',
    who: 'bearer',
    query: z.object({
      receipt: z
        .string()
        .max(64)
        .regex(/^[0-9a-f]{64}$/)
        .optional()
        .describe('SHA-256 of a receipt in hex, which the statement then names, too'),
    }),
    response: Envelope,
    extension: 'vouches for the results of a task and what it cost',
  }),
  cancel: operation('POST /users/tasks/{task_id}/cancel', {
    summary: 'Cancel a task that has not ended; its credits are refunded if it was not started',
    tool: true,
    // Decided: who started a task may cancel it, with the credential that started it.
    who: 'bearer',
    response: TaskAccount,
    extension:
      'ends a task as failed with the code cancelled; a vendor may go on, but its results are discarded',
  }),
};
