import { getOperation } from '../../contract/index.js';
import { printDryRun } from '../command/dry-run.js';
import { usage } from '../terminal/failure.js';
import type { CommandContext } from './context.js';

/** Prints what signs the user's webhooks, or replaces it; to a terminal only when asked to show it. */
export async function run(context: CommandContext): Promise<void> {
  const { system, flags, output, signal } = context;
  const rotates = flags.rotate === true;
  context.services.isChanging = rotates;
  if (flags['dry-run']) {
    const operation = getOperation(rotates ? 'webhook.rotateSecret' : 'webhook.secret');
    return printDryRun(context, operation, { params: {}, query: {}, body: undefined });
  }
  if (system.stdout.isTTY && !flags.show) {
    throw usage('The secret would be readable on this screen.', 'Pipe it, or add --show.');
  }
  const { client } = await context.services.reach();
  const { webhook } = client;
  const answer = rotates ? await webhook.rotateSecret({}, { signal }) : await webhook.secret({}, { signal });
  await output.answer(answer, { only: 'secret' });
  if (!rotates) return;
  await output.note('The old secret signs, too, for 24 hours.');
  await context.services.announce();
}
