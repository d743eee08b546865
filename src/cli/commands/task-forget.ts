import { findEntry } from '../../flows/tasks/task.js';
import { findEnd } from '../../flows/tasks/task-state.js';
import { usage } from '../terminal/failure.js';
import { oneLine } from '../terminal/text.js';
import type { CommandContext } from './context.js';
import { toUnknownTaskFailure } from './task-show.js';

/** Removes ledger entries, and prints the ids that it removed. */
export async function run(context: CommandContext): Promise<void> {
  const { args, flags, ledger, output } = context;
  const ids = (args.task_id ?? []) as readonly string[];
  if (ids.length === 0) throw usage('<task_id> is required.', 'See: regen task list');
  const entries = ids.map((id) => {
    const entry = findEntry(context, id);
    if (!entry) throw toUnknownTaskFailure(id);
    return entry;
  });
  const open = entries.filter(({ task_id, state }) => task_id !== undefined && !findEnd(state));
  if (open.length > 0 && !flags.force) {
    const names = open.map(({ task_id }) => task_id).join(', ');
    throw usage(
      `${open.length === 1 ? 'A task has' : `${open.length} tasks have`} not ended: ${names}.`,
      'Wait for it with `regen task wait`, or pass --force to forget it anyway.',
    );
  }
  for (const { id } of entries) ledger.remove(id);
  const removed = entries.map(({ id, task_id }) => task_id ?? id);
  if (output.mode.json) return output.answer(removed);
  for (const id of removed) await output.line(oneLine(id));
}
