import lt from 'semver/functions/lt.js';
import valid from 'semver/functions/valid.js';
import { z } from 'zod';
import type { Client } from '../../client/client.js';
import { compareDefinitions } from '../../contract/compare-definitions.js';
import { regen, say } from '../../contract/schema/message.js';
import { readDefinitions } from '../../flows/publish/latest-release.js';
import { LATEST, resolveVersion } from '../../flows/publish/published.js';
import type { Needs } from '../connect/context.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { formatCount } from '../terminal/text.js';
import { Row, Text } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'version diff <nodeId> [from] [to]',
  explain: {
    from: 'The earlier version number (default: the one before the later)',
    to: 'The later version number (default: the latest)',
  },
  summary: 'Compare the node definitions of two versions, and show what breaks workflows',
  tool: {},
  flags: { '--exit-code': 'Exit with 6 if a change breaks workflows' },
  shape: { columns: ['host_node_name', 'change', 'detail', 'breaks'] },
  examples: ['regen version diff light-tools', 'regen version diff light-tools 1.1.0 1.2.0 --exit-code'],
  answer: Row({ host_node_name: Text, change: Text, detail: Text, breaks: z.boolean() }),
});

export async function run(context: Context): Promise<number> {
  const { args, flags, output, command, signal } = context;
  const { client } = await context.services.reach();
  const nodeId = args.nodeId as string;
  const { from, to } = await chooseVersions(client, args, signal);
  if (args.from === undefined) await output.note(`Comparing ${nodeId} ${from} with ${to}`);
  const read = (version: string) => readDefinitions({ client, nodeId, signal }, version);
  const [before, after] = await Promise.all([read(from), read(to)]);
  const changes = compareDefinitions(before, after);
  const none = `No changes in ${formatCount(after.length, 'definition')}.`;
  await output.answer(changes, { ...command.shape, none });
  if (changes.length === 0) return exitCodes.done;
  const breaking = changes.filter(({ breaks }) => breaks).length;
  await output.note(`${formatCount(changes.length, 'change')}, ${breaking} breaking workflows.`);
  return flags['exit-code'] && breaking > 0 ? exitCodes.endedBadly : exitCodes.done;
}

/** Completes what was not given: the latest version, and the active one before the later. */
async function chooseVersions(client: Client, args: Context['args'], signal: AbortSignal) {
  const { nodeId = '', from, to = LATEST } = args as Readonly<Record<string, string | undefined>>;
  const later = await resolveVersion({ client }, nodeId, to, signal);
  if (from !== undefined) return { from: await resolveVersion({ client }, nodeId, from, signal), to: later };
  const listed = await client.version.list({ nodeId }, { signal });
  const earlier = listed.find(
    ({ status, version = '' }) =>
      status === 'NodeVersionStatusActive' && valid(version) && lt(version, later),
  );
  if (earlier?.version) return { from: earlier.version, to: later };
  throw new Failure(`${nodeId} has no active version before ${later}.`, {
    code: 'not_found',
    hint: say`List its versions with: ${regen('version list', nodeId)}`,
  });
}
