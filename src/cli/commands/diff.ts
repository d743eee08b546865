import { z } from 'zod';
import type { Client } from '../../client/client.js';
import { items } from '../../client/pages.js';
import { compareDefinitions, type ListedDefinition } from '../../contract/compare-definitions.js';
import type { Needs } from '../connect/context.js';
import { formatCount } from '../terminal/text.js';
import { Row, Text } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'version diff <nodeId> <from> <to>',
  explain: { from: 'The earlier version number', to: 'The later version number' },
  summary: 'Compare the node definitions of two versions, and show what breaks workflows',
  shape: { columns: ['host_node_name', 'change', 'detail', 'breaks'] },
  examples: ['regen version diff light-tools 1.1.0 1.2.0'],
  answer: Row({ host_node_name: Text, change: Text, detail: Text, breaks: z.boolean() }),
});

export async function run(context: Context): Promise<void> {
  const { args, output, command, signal } = context;
  const { client } = await context.services.reach();
  const nodeId = args.nodeId as string;
  const read = (version: string) => readDefinitions(client, nodeId, version, signal);
  const [before, after] = await Promise.all([read(args.from as string), read(args.to as string)]);
  const changes = compareDefinitions(before, after);
  const none = `No changes in ${formatCount(after.length, 'definition')}.`;
  await output.answer(changes, { ...command.shape, none });
  if (changes.length === 0) return;
  const breaking = changes.filter(({ breaks }) => breaks).length;
  await output.note(`${formatCount(changes.length, 'change')}, ${breaking} breaking workflows.`);
}

async function readDefinitions(
  client: Client,
  nodeId: string,
  version: string,
  signal: AbortSignal,
): Promise<ListedDefinition[]> {
  const all: ListedDefinition[] = [];
  const read = (page: number) => client.hostNodes.list({ nodeId, version, page, limit: 100 }, { signal });
  for await (const definition of items(read)) all.push(definition);
  return all;
}
