import { z } from 'zod';
import { items } from '../../client/pages.js';
import { compareWithHost } from '../../flows/workflow/compare-host.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { exitCodes, usage } from '../terminal/failure.js';
import { formatCount } from '../terminal/text.js';
import { Count, Row, Text, Texts } from '../views/answers.js';
import { OBJECT_INFO } from '../views/flags.js';
import type { View } from '../views/view.js';
import { readObjectInfo } from '../workflow/read-files.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services' | 'connect'>;

export const view = (): View => ({
  usage: 'host-nodes compare <nodeId> <version>',
  summary:
    'Compare the node definitions of a version with those of a host that runs it; exits 6 if they differ',
  flags: { '--object-info <file|url>': `${OBJECT_INFO} (required)` },
  notes: ['What the registry lists as computed at run time matches anything.'],
  shape: { items: 'differences', columns: ['host_node_name', 'field', 'registry', 'host'] },
  examples: ['regen host-nodes compare light-tools 1.2.0 --object-info http://127.0.0.1:8188'],
  answer: z.object({
    differences: Row({ host_node_name: Text, field: Text, registry: Text, host: Text }),
    notLoaded: Texts.describe('Nodes that the registry lists and the host did not load'),
    equal: Count,
  }),
});

const MAX_NAMES = 5;

export async function run(context: Context): Promise<number> {
  const { args, flags, output, command, signal } = context;
  const given = readText(flags, 'object-info');
  if (given === undefined)
    throw usage(
      '--object-info is missing.',
      'Pass the address of a running ComfyUI, or a file with its response to /object_info.',
    );
  const live = await readObjectInfo(context, given);
  const [nodeId, version] = [args.nodeId as string, args.version as string];
  const { client } = await context.services.reach();
  const listed = [];
  const read = (page: number) => client.hostNodes.list({ nodeId, version, page, limit: 100 }, { signal });
  for await (const definition of items(read)) listed.push(definition);
  const answer = compareWithHost(listed, live);
  const { differences, notLoaded, equal } = answer;
  const more = notLoaded.length > MAX_NAMES ? ` and ${notLoaded.length - MAX_NAMES} more` : '';
  const advice = notLoaded.length === listed.length ? '; restart it after installing' : '';
  const unloaded = `The host has not loaded ${notLoaded.slice(0, MAX_NAMES).join(', ')}${more}${advice}.`;
  const equalOrNone =
    listed.length > 0 ? 'No differences.' : `The registry has no definitions of ${nodeId} ${version}.`;
  const none = notLoaded.length > 0 ? unloaded : equalOrNone;
  await output.answer(answer, { ...command.shape, none });
  const missing = notLoaded.length > 0 ? `, ${notLoaded.length} not loaded by the host` : '';
  await output.note(`${equal} of ${formatCount(listed.length, 'definition')} equal${missing}.`);
  // Nothing to compare is no agreement.
  return differences.length > 0 || equal === 0 ? exitCodes.endedBadly : exitCodes.done;
}
