import { ledgerOf } from '../generation/task.js';
import type { Invocation } from '../invocation.js';

/** Lists the ledger. */
export async function run(invocation: Invocation): Promise<void> {
  const entries = [...ledgerOf(invocation).entries()];
  await invocation.output.answer(entries, invocation.command.shape);
}
