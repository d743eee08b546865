import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import { z } from 'zod';
import { getOutline } from '../../client/outlines.js';
import { NodeVersion } from '../../contract/node-version.js';
import { regen, say } from '../../contract/schema/message.js';
import { splitNodeVersion } from '../../contract/schema/node-id.js';
import { readText } from '../command/command.js';
import { confirm } from '../command/confirm.js';
import { printRequests, toPrintedRequest } from '../command/dry-run.js';
import type { Needs } from '../connect/context.js';
import { Failure, usage } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services' | 'mayAsk'>;

export const view = (): View => ({
  usage: 'version deprecate <nodeId> <range>',
  changes: true,
  summary: 'Mark all versions of a node in a range as deprecated',
  explain: { range: "Range of versions as npm writes it, such as '<1.2.0' or '1.x'" },
  flags: {
    '--message <text>': 'Why, or what to use instead: shown to those who install or download the versions',
    '--undo': 'Remove the mark',
    '-y, --yes': 'Do not ask for confirmation',
  },
  shape: { columns: ['version', 'deprecated', 'status', 'deprecation_message'] },
  examples: ["regen version deprecate light-tools '<1.2.0' --message 'Crashes on large images; use 1.2.0'"],
  answer: z.array(NodeVersion),
});

export async function run(context: Context): Promise<void> {
  const { args, flags, output, services, signal, command } = context;
  const { nodeId = '', range = '' } = args as Readonly<Record<string, string | undefined>>;
  if (!range || validRange(range) === null) {
    const [node, version] = splitNodeVersion(nodeId);
    if (version)
      throw usage(
        `'${range}' is not a range of versions.`,
        say`Run: ${regen('version deprecate', `${shellWord(node)} ${shellWord(version)} --message ${shellWord(range || 'the reason')}`)}`,
      );
    throw usage(`'${range}' is not a range of versions.`, "Write it as npm does, such as '<1.2.0' or '1.x'.");
  }
  const deprecated = flags.undo !== true;
  const given = readText(flags, 'message');
  if (given !== undefined && !deprecated) throw usage('--message and --undo cannot be used together.');
  const { client } = await services.reach();
  const [node, versions] = await Promise.all([
    client.node.get({ nodeId }, { signal }),
    client.version.list({ nodeId }, { signal }),
  ]);
  const meant = versions.flatMap(({ version, status, deprecated: is = false }) => {
    const isOther = is !== deprecated || given !== undefined;
    return version !== undefined &&
      isInRange(version, range) &&
      status !== 'NodeVersionStatusDeleted' &&
      isOther
      ? [version]
      : [];
  });
  if (meant.length === 0) {
    const isMatched = versions.some(
      ({ version = '', status }) => isInRange(version, range) && status !== 'NodeVersionStatusDeleted',
    );
    const found = deprecated
      ? `All versions of ${nodeId} in ${range} are deprecated already.`
      : `No version of ${nodeId} in ${range} is deprecated.`;
    throw new Failure(isMatched ? found : `No version of ${nodeId} matches ${range}.`, {
      code: 'not_found',
      hint: say`List the versions with: ${regen('version list', nodeId)}`,
    });
  }
  const message = given ?? (await askMessage(context, deprecated));
  const body = { deprecated, ...(message !== undefined && { deprecation_message: message }) };
  const publisherId = node.publisher?.id ?? '';
  const toParams = (versionId: string) => ({ publisherId, nodeId, versionId });
  if (flags['dry-run']) {
    const outline = getOutline('version.update');
    await printRequests(context, meant, (version) =>
      toPrintedRequest(outline, { params: toParams(version), body }),
    );
    return;
  }
  const verb = deprecated ? 'Deprecate' : 'Undo the deprecation of';
  await confirm(context, `${verb} ${nodeId} ${meant.join(', ')}?`);
  const changed = [];
  for (const version of meant)
    changed.push(await client.version.update({ ...toParams(version), body }, { signal }));
  await output.answer(changed, command.shape);
  if (deprecated && !message)
    await output.note('Users are shown no reason. To add one, run the command again with --message.');
  await services.announce();
}

const isInRange = (version: string, range: string) => satisfies(version, range, { includePrerelease: true });

/** Asks why versions are deprecated. An empty answer is none. */
async function askMessage(
  { flags, mayAsk, system }: Context,
  deprecated: boolean,
): Promise<string | undefined> {
  if (!deprecated || !mayAsk || flags['dry-run'] || flags.yes) return undefined;
  const answer = await system.prompts.input('Why, or what to use instead (empty for nothing):');
  return answer.trim() || undefined;
}
