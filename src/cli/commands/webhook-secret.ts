import { getOutline } from '../../client/outlines.js';
import { confirmDestruction, reportDestruction, requireShow } from '../command/confirm.js';
import { printDryRun } from '../command/dry-run.js';
import type { CommandContext } from '../connect/context.js';

export async function run(context: CommandContext): Promise<void> {
  const { flags, output, signal } = context;
  const rotates = flags.rotate === true;
  context.services.isChanging = rotates;
  if (flags['dry-run'])
    return printDryRun(context, getOutline(rotates ? 'webhook.rotateSecret' : 'webhook.secret'));
  requireShow(context, 'secret');
  await confirmDestruction(context, {});
  const { client } = await context.services.reach();
  const { webhook } = client;
  const answer = rotates ? await webhook.rotateSecret({}, { signal }) : await webhook.secret({}, { signal });
  await output.answer(answer, { only: 'secret' });
  if (!rotates) return;
  await output.note('Webhooks are also signed with the old secret for 24 hours.');
  await context.services.announce(reportDestruction(context.command, {}));
}
