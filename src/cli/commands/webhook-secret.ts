import { getOutline } from '../../client/outlines.js';
import type { Destruction } from '../../contract/operation.js';
import { webhook } from '../../contract/webhook.js';
import { readText } from '../command/command.js';
import { confirmDestruction, reportDestruction, requireShow } from '../command/confirm.js';
import { printDryRun } from '../command/dry-run.js';
import { saveSecret } from '../command/secret-file.js';
import type { Needs } from '../connect/context.js';
import { oneLine } from '../terminal/text.js';
import { secretFileFlags } from '../views/flags.js';
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
    ...secretFileFlags,
  },
  examples: ['regen webhook secret --output-file webhook-secret.txt'],
});

export async function run(context: Context): Promise<void> {
  const { flags, output, signal } = context;
  const rotates = flags.rotate === true;
  context.services.isChanging = rotates;
  if (flags['dry-run'])
    return printDryRun(context, getOutline(rotates ? 'webhook.rotateSecret' : 'webhook.secret'));
  const file = readText(flags, 'output-file');
  if (file === undefined) requireShow(context, 'secret', 'Pipe it, write it to a file with --output-file');
  await confirmDestruction(context, {});
  const read = async () => {
    const { webhook } = (await context.services.reach()).client;
    return rotates ? webhook.rotateSecret({}, { signal }) : webhook.secret({}, { signal });
  };
  if (file === undefined) await output.answer(await read(), { only: 'secret' });
  else {
    const create = async () => oneLine((await read()).secret);
    const path = await saveSecret(context, { file, name: 'secret' }, create);
    await output.answer({ path }, { only: 'path' });
  }
  if (!rotates) return;
  await output.note('Webhooks are also signed with the old secret for 24 hours.');
  await context.services.announce(reportDestruction(context.command, {}));
}
