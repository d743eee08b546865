import lt from 'semver/functions/lt.js';
import valid from 'semver/functions/valid.js';
import { z } from 'zod';
import type { Client } from '../../client/client.js';
import { compareDefinitions, type ListedDefinition } from '../../contract/compare-definitions.js';
import { isWholeCode } from '../../contract/release-rules.js';
import { regen, say } from '../../contract/schema/message.js';
import { LATEST } from '../../contract/schema/semantic-version.js';
import { readDefinitions } from '../../flows/publish/latest-release.js';
import { warnAboutCode } from '../../flows/publish/pack.js';
import { resolveVersion } from '../../flows/publish/published.js';
import { toListedDefinition } from '../../python/definitions/definitions.js';
import { readCodeApart } from '../../python/reader-process.js';
import { isPath } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { readFolder } from '../publish/publish-folder.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import { formatCount } from '../terminal/text.js';
import { Row, Text } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'version diff <nodeId> [from] [to]',
  explain: {
    nodeId:
      'Node id, or the path of a pack, such as . or ./light-tools, to compare it with a published version',
    from: 'The earlier version number (default: the one before the later; for a path, the latest)',
    to: 'The later version number (default: the latest)',
  },
  summary: 'Compare the node definitions of two versions, and show what breaks workflows',
  tool: {},
  flags: { '--exit-code': 'Exit with 6 if a change breaks workflows' },
  shape: { columns: ['host_node_name', 'change', 'detail', 'breaks'] },
  examples: [
    'regen version diff light-tools',
    'regen version diff light-tools 1.1.0 1.2.0 --exit-code',
    'regen version diff .',
  ],
  answer: Row({ host_node_name: Text, change: Text, detail: Text, breaks: z.boolean() }),
});

export async function run(context: Context): Promise<number> {
  const { args, flags, output, command } = context;
  const { before, after, isWhole } = isPath(args.nodeId)
    ? await readFolderSides(context)
    : await readSides(context);
  // A definition may be in what could not be read.
  const changes = compareDefinitions(before, after).filter(
    ({ change }) => isWhole || change !== 'node removed',
  );
  const none = `No changes in ${formatCount(after.length, 'definition')}.`;
  await output.answer(changes, { ...command.shape, none });
  if (changes.length === 0) return exitCodes.done;
  const breaking = changes.filter(({ breaks }) => breaks).length;
  await output.note(`${formatCount(changes.length, 'change')}${describeBreaking(breaking, changes.length)}.`);
  return flags['exit-code'] && breaking > 0 ? exitCodes.endedBadly : exitCodes.done;
}

function describeBreaking(breaking: number, all: number): string {
  if (breaking === 0) return '; saved workflows keep working';
  if (all === 1) return ', which breaks saved workflows';
  return `; ${breaking} of them break${breaking === 1 ? 's' : ''} saved workflows`;
}

interface Sides {
  readonly before: readonly ListedDefinition[];
  readonly after: readonly ListedDefinition[];
  /** Whether all definitions of the later one are known. */
  readonly isWhole: boolean;
}

async function readSides({ args, output, signal, services }: Context): Promise<Sides> {
  const nodeId = args.nodeId as string;
  await services.readAsPublisher(nodeId);
  const { client } = await services.reach();
  const { from, to } = await chooseVersions(client, args, signal);
  if (args.from === undefined) await output.note(`Comparing ${nodeId} ${from} with ${to}`);
  const read = (version: string) => readDefinitions({ client, nodeId, signal }, version);
  const [before, after] = await Promise.all([read(from), read(to)]);
  return { before, after, isWhole: true };
}

/** Reads a published version, and the pack in a folder. Nothing of it is sent. */
async function readFolderSides(context: Context): Promise<Sides> {
  const { args, output, signal, services } = context;
  const { nodeId: folder = '', from: version = LATEST } = args as Readonly<Record<string, string>>;
  if (args.to !== undefined)
    throw usage('A folder is compared with one version.', say`See: ${regen('version diff', '--help')}`);
  const flags = { ...context.flags, 'allow-secrets': true };
  const { manifest, files } = await readFolder({ ...context, flags }, folder);
  const { client } = await services.reach();
  const nodeId = manifest.node.id;
  const from = await resolveVersion({ client }, nodeId, version, signal);
  await output.note(`Comparing ${nodeId} ${from} with the pack in ${folder}`);
  const before = await readDefinitions({ client, nodeId, signal }, from);
  const code = await readCodeApart(files);
  await warnAboutCode(output, code);
  return { before, after: code.nodes.map(toListedDefinition), isWhole: isWholeCode(code) };
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
