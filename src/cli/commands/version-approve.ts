import { getOutline } from '../../client/outlines.js';
import { confirm } from '../command/confirm.js';
import { printDryRun } from '../command/dry-run.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import type { View } from '../views/view.js';
import { parsePair } from './bulk.js';

type Context = Needs<'args' | 'flags' | 'system' | 'output' | 'signal' | 'services' | 'mayAsk'>;

export const view = (): View => ({
  usage: 'version approve <version>',
  operation: 'version.approve',
  summary: 'Approve a staged version of a node that you own, so that others can use it',
  explain: { version: 'node@version' },
  flags: { '-y, --yes': 'Do not ask for confirmation' },
  notes: [
    'Before that, members see what would change with regen version diff, and get the archive with regen version download.',
  ],
  examples: ['regen version approve light-tools@1.3.0'],
});

export async function run(context: Context): Promise<void> {
  const { args, flags, output, services, signal } = context;
  const text = args.version as string;
  const pair = parsePair(text);
  if (!pair) throw usage(`'${text}' must be written as node@version.`);
  const { node_id: nodeId, version: versionId } = pair;
  const { client } = await services.reach();
  const node = await client.node.get({ nodeId }, { signal });
  const params = { publisherId: node.publisher?.id ?? '', nodeId, versionId };
  if (flags['dry-run'])
    return printDryRun(context, getOutline('version.approve'), { params, query: {}, body: undefined });
  await confirm(context, `Approve ${nodeId} ${versionId}?`);
  await output.answer(await client.version.approve(params, { signal }));
  await services.announce();
}
