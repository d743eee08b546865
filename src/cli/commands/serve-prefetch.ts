import { resolve } from 'node:path';
import { ClientError } from '../../client/errors.js';
import { splitNodeVersion } from '../../contract/schema/node-id.js';
import { readGivenFile } from '../../disk/folder-file.js';
import { FlowError } from '../../flows/flow-error.js';
import { findDownloadable } from '../../flows/install/download-archive.js';
import { HOST_PACK } from '../../flows/workflow/host-definitions.js';
import { runInParallel } from '../command/parallel.js';
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
  explain: { file: 'File with a node or node@version on each line; lines that begin with # are comments' },
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
}

/** Fetches what is wanted, two at a time, as a service does for one user. What fails stops nothing else. */
export async function run(context: Context): Promise<number> {
  const { output, command, services } = context;
  const wanted = await readWanted(context);
  const service = await services.reach();
  const progress = new Progress(output);
  const rows = new Map<Wanted, Awaited<ReturnType<typeof fetchOne>>>();
  const codes = new Set<string>();
  try {
    await progress.stage(`Fetching ${formatCount(wanted.length, 'archive')}`);
    await runInParallel(wanted, 2, async (one) => {
      rows.set(one, await fetchOne(context, service, one, codes));
      progress.update(`(${rows.size} done)`);
    });
  } finally {
    progress.end();
  }
  await output.answer(
    wanted.map((one) => rows.get(one)),
    command.shape,
  );
  const failed = [...rows.values()].filter(({ status }) => status === 'failed').length;
  if (failed > 0) await output.note(`${failed} of ${wanted.length} could not be fetched.`);
  // One that does not answer is there all the same.
  if (failed > 0 && !codes.has('unavailable') && ![...rows.values()].some(({ status }) => status === 'kept'))
    await output.note(
      `${service.name} may have no registry behind it (the setting uplink). To ask another service, pass --profile or --base-url.`,
    );
  return failed > 0 ? exitCodes.someFailed : exitCodes.done;
}

async function fetchOne(
  { signal }: Context,
  { client }: Service,
  { node_id, version }: Wanted,
  codes: Set<string>,
) {
  try {
    const found = await findDownloadable({ client, nodeId: node_id, version, counts: false, signal });
    const row = { node_id, version: found.version ?? version ?? '', detail: found.status_reason ?? '' };
    if (!found.from_uplink) return { ...row, status: 'own' };
    const { status } = await client.inspect(found.downloadUrl as string, { signal });
    return status === 200
      ? { ...row, status: 'kept' }
      : { ...row, status: 'failed', detail: `The service answers ${status} for its archive.` };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ClientError || error instanceof FlowError)) throw error;
    codes.add(error.code);
    return { node_id, version: version ?? '', status: 'failed', detail: error.message };
  }
}

async function readWanted(context: Context): Promise<Wanted[]> {
  const { args, system, flags } = context;
  const file = args.file as string | undefined;
  const lines =
    file === undefined ? [] : (await readGivenFile(resolve(system.cwd, file))).toString().split(/\r?\n/);
  const listed = lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(parseWanted);
  const workflows = await readWorkflows(context, (flags.workflow ?? []) as string[]);
  const recorded = workflows.flatMap(({ nodes }) => nodes.flatMap(({ pack }) => pack ?? []));
  const packs = recorded.filter(({ node_id }) => node_id !== HOST_PACK);
  const wanted = new Map([...listed, ...packs].map((one) => [`${one.node_id}@${one.version ?? ''}`, one]));
  if (wanted.size === 0) throw usage('Nothing to fetch.', 'Pass a file with nodes, or --workflow.');
  return [...wanted.values()];
}

function parseWanted(line: string): Wanted {
  const [node_id, version] = splitNodeVersion(line);
  return { node_id: node_id.trim(), ...(version?.trim() && { version: version.trim() }) };
}
