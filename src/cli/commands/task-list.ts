import type { Invocation } from '../invocation.js';

/** Lists the ledger. */
export async function run(invocation: Invocation): Promise<void> {
  const entries = [...invocation.ledger.entries()];
  await invocation.output.answer(entries, invocation.command.shape);
}
