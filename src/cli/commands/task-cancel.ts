import { z } from 'zod';
import type { Client } from '../../client/client.js';
import { getOutline } from '../../client/outlines.js';
import { getOperation } from '../../contract/index.js';
import { regen, say } from '../../contract/schema/message.js';
import { serviceKey } from '../../flows/tasks/ledger.js';
import { findTask, type Target } from '../../flows/tasks/task.js';
import { printRequests, toPrintedRequest } from '../command/dry-run.js';
import { combineExits } from '../command/parallel.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import { formatCount } from '../terminal/text.js';
import { taskExplain } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'output' | 'signal' | 'ledger' | 'services'>;

export const view = (): View => ({
  usage: 'task cancel <task_id...>',
  changes: true,
  summary: 'Cancel tasks that have not ended; credits of tasks that were not started are refunded',
  explain: taskExplain,
  shape: { columns: ['task_id', 'status', 'credits', 'reason'] },
  examples: [
    'regen task cancel @last',
    'regen task list --state running --jq ".[].task_id" | xargs regen task cancel',
  ],
  answer: z.array(getOperation('task.cancel').response as z.ZodType),
});

type Cancelled = Awaited<ReturnType<Client['task']['cancel']>>;

/** Cancels tasks. One that cannot be cancelled does not stop the others. */
export async function run(context: Context): Promise<number> {
  const { args, flags, ledger, output, command, services, signal } = context;
  const ids = (args.task_id ?? []) as readonly string[];
  if (ids.length === 0)
    throw usage('<task_id> is required.', say`See: ${regen('task list', '--state running')}`);
  const tasks = await Promise.all(ids.map((id) => findTask(context, id)));
  if (flags['dry-run']) {
    await printRequests(context, tasks, ({ id, target }) => {
      services.use(target);
      return toPrintedRequest(getOutline('task.cancel'), { params: { task_id: id } });
    });
    return exitCodes.done;
  }
  const answers: Cancelled[] = [];
  const exits: number[] = [];
  const changed = new Map<string, Target>();
  for (const { id, entry, target } of tasks) {
    try {
      services.use(target);
      const { client } = await services.reach();
      const answer = await client.task.cancel({ task_id: id }, { signal });
      if (entry)
        await ledger.change(entry.id, {
          ...{ state: answer.status, credits: answer.credits, closed: true },
          ...(answer.reason && { reason: answer.reason }),
        });
      answers.push(answer);
      changed.set(serviceKey(target), target);
      exits.push(exitCodes.done);
    } catch (error) {
      signal.throwIfAborted();
      const failure = toFailure(error, context);
      await output.failure(new Failure(say`Task ${id}: ${failure.text}`, failure.facts));
      exits.push(failure.facts.exit);
    }
  }
  if (answers.length > 0 || output.mode.json) await output.answer(answers, command.shape);
  for (const answer of answers) await reportRefund(context, answer);
  for (const target of changed.values()) {
    services.use(target);
    await services.announce();
  }
  return combineExits(exits);
}

/** Says what became of the credits of a task that had a price. A service may not tell. */
async function reportRefund({ output }: Needs<'output'>, task: Cancelled): Promise<void> {
  const { task_id, credits, refunded = 0 } = task;
  if (refunded > 0) return output.note(`Refunded ${formatCount(refunded, 'credit')} for task ${task_id}.`);
  if (credits === 0) return;
  await output.note(
    `Task ${task_id} was already started, so its ${formatCount(credits, 'credit')} ${credits === 1 ? 'is' : 'are'} not refunded.`,
  );
}
