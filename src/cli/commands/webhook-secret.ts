import { getOutline } from '../../client/outlines.js';
import type { Destruction } from '../../contract/operation.js';
import { webhook } from '../../contract/webhook.js';
import { confirmDestruction, reportDestruction, requireShow } from '../command/confirm.js';
import { printDryRun } from '../command/dry-run.js';
import type { Needs } from '../connect/context.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'flags' | 'system' | 'output' | 'signal' | 'services' | 'mayAsk'>;

export const view = (): View => ({
  usage: 'webhook secret',
  destroys: { ...(webhook.rotateSecret.destroys as Destruction), flag: 'rotate' },
  summary: 'Print the secret that signs your webhooks, or replace it',
  changes: true,
  flags: {
    '--rotate': 'Create a new secret; for 24 hours, the old one signs too',
    '--show': 'Print the secret even if stdout is a terminal',
  },
  examples: ['regen webhook secret > webhook-secret.txt'],
});

export async function run(context: Context): Promise<void> {
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
