import { resolve } from 'node:path';
import { ClientError, ServiceError } from '../../client/errors.js';
import { isSemanticVersion } from '../../contract/schema/semantic-version.js';
import { readGivenFile } from '../../disk/folder-file.js';
import { FlowError } from '../../flows/flow-error.js';
import { chooseVersion, parseWantedNode } from '../../flows/install/choose-version.js';
import { HOST_PACK } from '../../flows/workflow/host-definitions.js';
import { combineExits, runInParallel } from '../command/parallel.js';
import { toInvalidFailure } from '../command/request.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import type { Service } from '../connect/services.js';
import { exitCodes, usage } from '../terminal/failure.js';
import { Progress } from '../terminal/progress.js';
import { formatCount } from '../terminal/text.js';
import { Row, Text } from '../views/answers.js';
import type { View } from '../views/view.js';
import { readWorkflows } from '../workflow/read-files.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'serve prefetch [file]',
  summary:
    'Have a service fetch and keep archives of the registry behind it, for a backup that a closed network restores',
  explain: {
    file: 'File with a node, node@version or node@range on each line; lines that begin with # are comments',
  },
  flags: {
    '--workflow <file>': {
      description: 'Also what this workflow records, or a pattern of several',
      repeat: true,
    },
  },
  shape: { columns: ['node_id', 'version', 'status', 'detail'] },
  notes: ['The service needs the setting uplink. A node without a version is fetched in its latest one.'],
  examples: [
    'regen serve prefetch packs.txt --profile studio',
    "regen serve prefetch --workflow 'flows/*.json'",
  ],
  answer: Row({ node_id: Text, version: Text, status: Text, detail: Text }),
});

interface Wanted {
  readonly node_id: string;
  readonly version?: string | undefined;
  /** Whether any version in it will do. */
  readonly isRange?: boolean;
}

interface Fetched {
  readonly row: Readonly<Record<'node_id' | 'version' | 'status' | 'detail', string>>;
  readonly failure?: { readonly code: string; readonly exit: number };
}

/** Fetches what is wanted, two at a time, as a service does for one user. What fails stops nothing else. */
export async function run(context: Context): Promise<number> {
  const { output, command, services } = context;
  const wanted = await readWanted(context);
  const service = await services.reach();
  const progress = new Progress(output);
  const fetched = new Map<Wanted, Fetched>();
  try {
    await progress.stage(`Fetching ${formatCount(wanted.length, 'archive')}`);
    await runInParallel(wanted, 2, async (one) => {
      fetched.set(one, await fetchOne(context, service, one));
      progress.update(`(${fetched.size} done)`);
    });
  } finally {
    progress.end();
  }
  await output.answer(
    wanted.map((one) => fetched.get(one)?.row),
    command.shape,
  );
  const all = [...fetched.values()];
  const failures = all.flatMap(({ failure }) => failure ?? []);
  if (failures.length > 0) await output.note(`${failures.length} of ${wanted.length} could not be fetched.`);
  const isMissing = failures.length > 0 && failures.every(({ code }) => code === 'not_found');
  if (isMissing && !all.some(({ row }) => row.status === 'kept'))
    await output.note(
      `A node must be in the registry behind ${service.name} (its setting uplink). To ask another service, pass --profile or --base-url.`,
    );
  return combineExits(all.map(({ failure }) => failure?.exit ?? exitCodes.done));
}

async function fetchOne(context: Context, { client }: Service, wanted: Wanted): Promise<Fetched> {
  const { signal } = context;
  const { node_id, version = '', isRange } = wanted;
  let row = { node_id, version, detail: '' };
  try {
    const found =
      version === '' || isRange
        ? await chooseVersion({ client, nodeId: node_id, range: wanted.version, counts: false, signal })
        : // Unlike a bulk read, it says why there is none.
          await client.version.get({ nodeId: node_id, version }, { signal });
    row = { ...row, version: found.version ?? version, detail: found.status_reason ?? '' };
    if (!found.from_uplink) return { row: { ...row, status: 'own' } };
    const { status } = await client.inspect(found.downloadUrl as string, { signal });
    if (status === 200) return { row: { ...row, status: 'kept' } };
    const message = `The service answers ${status} for its archive.`;
    throw new ServiceError({ code: `http_${status}`, status, message });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ClientError || error instanceof FlowError)) throw error;
    const failure = { code: error.code, exit: toFailure(error, context).facts.exit };
    return { row: { ...row, status: 'failed', detail: error.message }, failure };
  }
}

async function readWanted(context: Context): Promise<Wanted[]> {
  const { args, system, flags } = context;
  const file = args.file as string | undefined;
  const lines =
    file === undefined ? [] : (await readGivenFile(resolve(system.cwd, file))).toString().split(/\r?\n/);
  const problems: { path: string; message: string }[] = [];
  const listed = lines.flatMap((line, at) => {
    try {
      return parseLine(line.trim());
    } catch (error) {
      if (!(error instanceof FlowError)) throw error;
      problems.push({ path: `${file}, line ${at + 1}`, message: error.message });
      return [];
    }
  });
  if (problems.length > 0) throw toInvalidFailure(problems);
  const workflows = await readWorkflows(context, (flags.workflow ?? []) as string[]);
  const recorded = workflows.flatMap(({ nodes }) => nodes.flatMap(({ pack }) => pack ?? []));
  const packs = recorded.filter(({ node_id }) => node_id !== HOST_PACK);
  const wanted = new Map([...listed, ...packs].map((one) => [`${one.node_id}@${one.version ?? ''}`, one]));
  if (wanted.size === 0) throw usage('Nothing to fetch.', 'Pass a file with nodes, or --workflow.');
  return [...wanted.values()];
}

/** @throws FlowError if it is not a node, and maybe a version or a range */
function parseLine(line: string): Wanted[] {
  if (line === '' || line.startsWith('#')) return [];
  const { nodeId: node_id, range: version } = parseWantedNode(line);
  return [{ node_id, version, isRange: version !== undefined && !isSemanticVersion(version) }];
}
