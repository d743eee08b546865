import type { Invocation } from '../command/invocation.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';

/** Shows one entry of the ledger. */
export async function run(invocation: Invocation): Promise<void> {
  const id = invocation.args.task_id as string | undefined;
  if (!id) throw usage('<task_id> is required.');
  const entry = invocation.ledger.find(id);
  if (!entry) throw notInLedger(id);
  await invocation.output.answer(entry);
}

export function notInLedger(id: string): Failure {
  return new Failure(`No task ${id} was started from here.`, {
    code: 'not_found',
    exit: exitCodes.notFound,
    hint: 'See what was started: regen task list. A task started elsewhere: regen image status <task_id>',
  });
}
