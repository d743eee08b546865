import type { Selectable } from 'kysely';
import type { WebhookEvent } from '../../contract/events.js';
import type { Context } from '../context.js';
import type { TaskTable } from '../database/schema.js';
import type { TaskOperation } from './engine.js';
import { kindOf } from './operations.js';
import { statuses } from './states.js';
import { creationsView, taskView } from './view.js';

/** The event that a task's changes are. */
export function eventOf(operation: TaskOperation): WebhookEvent {
  return `${kindOf(operation)}.task.updated`;
}

/**
 * What a webhook is told of a task when it came to have this status; the addresses of its results are made for this
 * attempt.
 */
export async function webhookBody(
  context: Context,
  task: Selectable<TaskTable>,
  status: TaskTable['status'],
): Promise<object> {
  const kind = kindOf(task.operation);
  const then = { ...task, status, results: status === statuses[kind].done ? task.results : null };
  return kind === 'image' ? taskView(context, then) : creationsView(context, context.database, then);
}
