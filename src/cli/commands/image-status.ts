import { usage } from '../failure.js';
import { findTask, imageKinds, readTask } from '../generation/task.js';
import type { Invocation } from '../invocation.js';

/** Shows an image task as its service has it now. */
export async function run(invocation: Invocation): Promise<void> {
  const { args, output } = invocation;
  const kind = invocation.text('kind');
  if (kind !== undefined && !Object.hasOwn(imageKinds, kind)) {
    throw usage(`--kind must be one of ${Object.keys(imageKinds).join(', ')}.`);
  }
  const id = args.task_id as string | undefined;
  if (!id) throw usage('<task_id> is required.', 'See what was started from here: regen task list');
  const { answer, task } = await readTask(invocation, await findTask(invocation, id, kind));
  await output.answer(output.mode.json ? answer : task);
}
