import { getOutline } from '../../client/outlines.js';
import { findTask } from '../../flows/tasks/task.js';
import { printRequests, toPrintedRequest } from '../command/dry-run.js';
import { combineExits } from '../command/parallel.js';
import { toFailure } from '../command/to-failure.js';
import type { CommandContext } from '../connect/context.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';

/** Cancels tasks. One that cannot be cancelled does not stop the others. */
export async function run(context: CommandContext): Promise<number> {
  const { args, flags, ledger, output, command, services, signal } = context;
  const ids = (args.task_id ?? []) as readonly string[];
  if (ids.length === 0) throw usage('<task_id> is required.', 'See: regen task list --state running');
  const tasks = await Promise.all(ids.map((id) => findTask(context, id)));
  if (flags['dry-run']) {
    const cancel = getOutline('task.cancel');
    const requests = tasks.map(({ id: task_id }) => toPrintedRequest(cancel, { params: { task_id } }));
    await printRequests(context, requests);
    return exitCodes.done;
  }
  const answers: object[] = [];
  const exits: number[] = [];
  for (const { id, entry, target } of tasks) {
    try {
      const { client } = await services.reach(target);
      const answer = await client.task.cancel({ task_id: id }, { signal });
      if (entry) ledger.change(entry.id, { state: answer.status, credits: answer.credits });
      answers.push(answer);
      exits.push(exitCodes.done);
    } catch (error) {
      signal.throwIfAborted();
      const failure = toFailure(error);
      await output.failure(new Failure(`Task ${id}: ${failure.message}`, failure.facts));
      exits.push(failure.facts.exit);
    }
  }
  if (answers.length > 0 || output.mode.json) await output.answer(answers, command.shape);
  if (answers.length > 0) await services.announce(tasks[0]?.target);
  return combineExits(exits);
}
