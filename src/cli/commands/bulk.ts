import type { z } from 'zod';
import { DEFAULT_LIMITS } from '../../contract/schema/limits.js';
import { splitNodeVersion } from '../../contract/schema/node-id.js';
import type { BulkItem } from '../../contract/version.js';
import { combineExits } from '../command/parallel.js';
import { toInvalidFailure } from '../command/request.js';
import type { Needs } from '../connect/context.js';
import { exitCodes, usage } from '../terminal/failure.js';
import { readLines } from '../terminal/stdin.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'version bulk [pairs...]',
  operation: 'version.bulk',
  explain: { pairs: 'node@version (default: read from standard input, one per line)' },
  shape: {
    items: 'node_versions',
    columns: ['identifier.node_id', 'identifier.version', 'status', 'node_version.status', 'error_message'],
    less: ['status'],
  },
  examples: [
    'regen version bulk hello-nodes@1.0.0 light-tools@1.2.0',
    'regen version bulk --json < pairs.txt',
  ],
});

interface VersionPair {
  readonly node_id: string;
  readonly version: string;
}

/** Reads any number of versions, in several requests, and merges the responses in the order of the input. */
export async function run(context: Context): Promise<number> {
  const { output, command, signal } = context;
  const pairs = parsePairs(await readPairs(context));
  const { client } = await context.services.reach();
  const all: z.output<typeof BulkItem>[] = [];
  for (let start = 0; start < pairs.length; start += DEFAULT_LIMITS.bulkPairs) {
    const body = { node_versions: pairs.slice(start, start + DEFAULT_LIMITS.bulkPairs) };
    const answer = await client.requestNamed('version.bulk', { body }, { signal });
    const { node_versions } = answer.body as { readonly node_versions: typeof all };
    if (output.mode.ndjson) await output.items(node_versions);
    all.push(...node_versions);
  }
  if (!output.mode.ndjson) {
    const format = await context.services.findFormat();
    await output.answer({ node_versions: all }, format.writeFields(command.shape ?? {}));
  }
  const missed = all.filter(({ status }) => status !== 'success').length;
  if (missed > 0) await output.note(`${missed} of ${all.length} could not be read.`);
  return combineExits(all.map(({ status }) => BULK_EXITS[status] ?? exitCodes.someFailed));
}

const BULK_EXITS: Readonly<Record<string, number>> = {
  success: exitCodes.done,
  not_found: exitCodes.notFound,
};

async function readPairs({ args, system }: Needs<'args' | 'system'>): Promise<string[]> {
  const given = (args.pairs as readonly string[] | undefined) ?? [];
  if (given.length > 0 && !given.includes('-')) return [...given];
  if (given.length === 0 && system.stdin.isTTY) {
    throw usage('No versions given.', 'Pass them as node@version, or pipe them in, one per line.');
  }
  const pairs = given.filter((pair) => pair !== '-');
  for await (const pair of readLines(system.stdin)) pairs.push(pair);
  return pairs;
}

function parsePairs(texts: readonly string[]): VersionPair[] {
  const pairs = texts.map(parsePair);
  const wrong = texts.filter((_, at) => !pairs[at]);
  if (wrong.length > 0)
    throw toInvalidFailure(
      wrong.map((text) => ({ path: `'${text}'`, message: 'must be written as node@version' })),
    );
  if (pairs.length === 0) throw usage('No versions given.', 'Write them as node@version, one per line.');
  return pairs as VersionPair[];
}

/** Parses `node@version`; undefined if it is something else. */
export function parsePair(text: string): VersionPair | undefined {
  const [node_id, version] = splitNodeVersion(text);
  return node_id && version ? { node_id, version } : undefined;
}
