import { regen, say } from '../../contract/schema/message.js';
import { Destination } from '../../flows/tasks/destination.js';
import { findTask, readTask } from '../../flows/tasks/task.js';
import { findEnd } from '../../flows/tasks/task-state.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { downloadResult, printsBytes, saveTask } from '../generation/finish-task.js';
import { runAll, Watch } from '../generation/run-tasks.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';
import { describeAnyTask } from '../views/answers.js';
import { openFlag, saveFlags, taskExplain } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'ledger' | 'services'> &
  Needs<'interruption' | 'signal'>;

export const view = (): View => ({
  usage: 'task download <task_id>',
  summary: 'Save the results of a task, and print their paths',
  explain: taskExplain,
  flags: { ...saveFlags, ...openFlag },
  examples: ['regen task download 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 -o results/ --receipt'],
  answer: describeAnyTask(),
});

/** Saves the results of a task. Their URLs are read again, because they expire. */
export async function run(context: Context): Promise<number> {
  const { args, flags, system, services, ledger, signal } = context;
  const id = args.task_id as string | undefined;
  if (!id) throw usage('<task_id> is required.');
  const how = { force: flags.force === true, receipt: flags.receipt === true };
  const isPrinted = printsBytes(flags, system, 1);
  const destination = new Destination(system.cwd, readText(context.flags, 'output') ?? './', how);
  const task = await findTask(context, id);
  services.use(task.target);
  if (!isPrinted) destination.check([task.entry?.name ?? task.kind]);
  const watch = new Watch(context.output);
  const item = {
    label: id,
    run: async () => {
      const seen = await readTask(context, task);
      if (findEnd(seen.state) !== 'well') throw toNothingToSaveFailure(id, seen.state);
      if (isPrinted)
        return { lines: [], bytes: await downloadResult(context, task, seen), answer: seen.sent };
      return {
        lines: await saveTask({ services, ledger, signal, watch }, task, seen, destination),
        answer: seen.sent,
      };
    },
  };
  return runAll(context, watch, [item]);
}

function toNothingToSaveFailure(id: string, state: string): Failure {
  const over = findEnd(state) !== undefined;
  return new Failure(`Task ${id} has no results to save; its status is ${state}.`, {
    code: over ? 'task_failed' : 'still_running',
    exit: over ? exitCodes.endedBadly : exitCodes.stillGoing,
    ...(!over && { hint: say`Wait for it with: ${regen('task wait', shellWord(id))}` }),
  });
}
