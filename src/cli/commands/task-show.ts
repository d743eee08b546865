import { exitCodes, Failure, usage } from '../terminal/failure.js';
import type { CommandContext } from './context.js';

/** Shows one entry of the ledger. */
export async function run(context: CommandContext): Promise<void> {
  const id = context.args.task_id as string | undefined;
  if (!id) throw usage('<task_id> is required.');
  const entry = context.ledger.find(id);
  if (!entry) throw notInLedger(id);
  await context.output.answer(entry);
}

export function notInLedger(id: string): Failure {
  return new Failure(`No task ${id} was started from here.`, {
    code: 'not_found',
    exit: exitCodes.notFound,
    hint: 'See what was started: regen task list. A task started elsewhere: regen image status <task_id>',
  });
}
