import { findEntry } from '../../flows/tasks/task.js';
import { Failure, usage } from '../terminal/failure.js';
import type { CommandContext } from './context.js';

/** Shows one ledger entry. */
export async function run(context: CommandContext): Promise<void> {
  const id = context.args.task_id as string | undefined;
  if (!id) throw usage('<task_id> is required.');
  const entry = findEntry(context, id);
  if (!entry) throw toUnknownTaskFailure(id);
  await context.output.answer(entry);
}

export function toUnknownTaskFailure(id: string): Failure {
  return new Failure(`Task ${id} was not started from here.`, {
    code: 'not_found',
    hint: 'List tasks with: regen task list. For a task that was started elsewhere: regen image status <task_id>',
  });
}
