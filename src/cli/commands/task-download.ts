import type { Invocation } from '../command/invocation.js';
import { bringHome } from '../generation/await-task.js';
import { Destination } from '../generation/destination.js';
import { together } from '../generation/run-all.js';
import { findTask, readTask } from '../generation/task.js';
import { endOf } from '../generation/task-state.js';
import { Watch } from '../generation/watch.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';

/** Saves what a task made. Its URLs are asked for anew, because they run out. */
export async function run(invocation: Invocation): Promise<number> {
  const { args, flags, system } = invocation;
  const id = args.task_id as string | undefined;
  if (!id) throw usage('<task_id> is required.');
  const how = { force: flags.force === true, receipt: flags.receipt === true };
  const destination = new Destination(system.cwd, invocation.text('output') ?? './', how);
  const task = await findTask(invocation, id);
  destination.check([task.entry?.name ?? task.kind]);
  const watch = new Watch(invocation);
  const item = {
    label: id,
    run: async () => {
      const seen = await readTask(invocation, task);
      if (endOf(seen.state) !== 'well') throw nothingYet(id, seen.state);
      return { lines: await bringHome({ invocation, watch, destination }, task, seen), answer: seen.answer };
    },
  };
  return together(invocation, watch, [item]);
}

function nothingYet(id: string, state: string): Failure {
  const over = endOf(state) !== undefined;
  return new Failure(`There is nothing to save of task ${id}: it is ${state}.`, {
    code: over ? 'task_failed' : 'still_running',
    exit: over ? exitCodes.endedBadly : exitCodes.stillGoing,
    ...(!over && { hint: `Wait for it with: regen task wait ${id}` }),
  });
}
