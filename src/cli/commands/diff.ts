import { z } from 'zod';
import { compareDefinitions } from '../../contract/compare-definitions.js';
import { readDefinitions } from '../../flows/publish/latest-release.js';
import type { Needs } from '../connect/context.js';
import { exitCodes } from '../terminal/failure.js';
import { formatCount } from '../terminal/text.js';
import { Row, Text } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'version diff <nodeId> <from> <to>',
  explain: { from: 'The earlier version number', to: 'The later version number' },
  summary: 'Compare the node definitions of two versions, and show what breaks workflows',
  flags: { '--exit-code': 'Exit with 6 if a change breaks workflows' },
  shape: { columns: ['host_node_name', 'change', 'detail', 'breaks'] },
  examples: [
    'regen version diff light-tools 1.1.0 1.2.0',
    'regen version diff light-tools 1.1.0 1.2.0 --exit-code --quiet',
  ],
  answer: Row({ host_node_name: Text, change: Text, detail: Text, breaks: z.boolean() }),
});

export async function run(context: Context): Promise<number> {
  const { args, flags, output, command, signal } = context;
  const { client } = await context.services.reach();
  const nodeId = args.nodeId as string;
  const read = (version: string) => readDefinitions({ client, nodeId, signal }, version);
  const [before, after] = await Promise.all([read(args.from as string), read(args.to as string)]);
  const changes = compareDefinitions(before, after);
  const none = `No changes in ${formatCount(after.length, 'definition')}.`;
  await output.answer(changes, { ...command.shape, none });
  if (changes.length === 0) return exitCodes.done;
  const breaking = changes.filter(({ breaks }) => breaks).length;
  await output.note(`${formatCount(changes.length, 'change')}, ${breaking} breaking workflows.`);
  return flags['exit-code'] && breaking > 0 ? exitCodes.endedBadly : exitCodes.done;
}
