import { getOutline } from '../../client/outlines.js';
import { buildRequest, type Request } from '../command/build-request.js';
import { readText } from '../command/command.js';
import { printRequests, toPrintedRequest } from '../command/dry-run.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import type { View } from '../views/view.js';
import { parsePair } from './bulk.js';
import { callOperation, requireValid } from './operation.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services' | 'mayAsk'>;

export const view = (): View => ({
  usage: 'admin review [versions...]',
  operation: 'admin.review',
  summary: 'List the versions that wait for a verdict, or give one to the versions named',
  explain: { versions: 'node@version (default: list them)' },
  changes: true,
  flags: {
    '--approve': 'Make the versions Active',
    '--flag': 'Flag the versions',
    '--ban': 'Ban the versions',
    '--reason <text>':
      'Reason for the verdict, shown with the findings to those who can see the version; --ban needs one',
  },
  shape: {
    items: 'versions',
    columns: ['node_id', 'version', 'status', 'createdAt', 'status_reason'],
    less: ['createdAt'],
  },
  examples: [
    'regen admin review',
    'regen admin review light-tools@1.2.0 --approve --reason "The subprocess call is ffmpeg"',
  ],
});

const VERDICTS = {
  approve: 'NodeVersionStatusActive',
  flag: 'NodeVersionStatusFlagged',
  ban: 'NodeVersionStatusBanned',
} as const;

export async function run(context: Context): Promise<void> {
  const { args, command, flags } = context;
  const named = (args.versions ?? []) as readonly string[];
  const verdicts = (['approve', 'flag', 'ban'] as const).filter((verdict) => flags[verdict]);
  const reason = readText(flags, 'reason');
  if (named.length === 0) {
    if (verdicts.length > 0 || reason !== undefined)
      throw usage('A verdict needs versions.', 'Name them as node@version, as in the list.');
    const request = buildRequest(command, {}, flags);
    await requireValid('admin.review', context, request, false);
    const { name } = await context.services.reach();
    const none = flags.statuses === undefined && { none: `Nothing waits for review on ${name}.` };
    const shape = { ...command.shape, ...none };
    return callOperation({ ...context, command: { ...command, shape } }, 'admin.review', request);
  }
  const [verdict] = verdicts;
  if (!verdict || verdicts.length > 1) throw usage('Pass one verdict: --approve, --flag or --ban.');
  const why = verdict === 'ban' ? await requireReason(context, reason) : reason;
  const body = { status: VERDICTS[verdict], ...(why !== undefined && { status_reason: why }) };
  await setStatuses(context, named.map(parseVersion), body);
}

/** The publisher reads why a version was banned. */
async function requireReason({ mayAsk, system }: Context, given: string | undefined): Promise<string> {
  if (given?.trim()) return given;
  if (!mayAsk) throw usage('--ban needs a reason.', 'Write why with --reason.');
  const check = (text: string) => (text.trim() ? undefined : 'must not be empty');
  return system.prompts.input('Reason for the ban:', undefined, check);
}

async function setStatuses(
  context: Context,
  versions: readonly Request['params'][],
  body: { readonly status: string; readonly status_reason?: string },
): Promise<void> {
  const name = 'admin.version.setStatus';
  if (context.flags['dry-run']) {
    await printRequests(context, versions, (params) => toPrintedRequest(getOutline(name), { params, body }));
    return;
  }
  const { client } = await context.services.reach();
  // One that does not exist is found before any is changed.
  for (const { nodeId, version } of versions as { nodeId: string; version: string }[]) {
    await client.version.get({ nodeId, version }, { signal: context.signal }).catch(async (error) => {
      // A caller who may not review is told that, and not that the version does not exist.
      await client.admin.review({ pageSize: 1 }, { signal: context.signal });
      throw error;
    });
  }
  const reviewed: unknown[] = [];
  for (const params of versions) {
    reviewed.push((await client.requestNamed(name, { ...params, body }, { signal: context.signal })).body);
  }
  await context.output.answer(reviewed, { columns: ['node_id', 'version', 'status', 'status_reason'] });
  await context.services.announce();
}

function parseVersion(text: string): Request['params'] {
  const pair = parsePair(text);
  if (pair) return { nodeId: pair.node_id, version: pair.version };
  throw usage(`'${text}' must be written as node@version.`);
}
