import { render, say } from '../../contract/schema/message.js';
import { checkCode, type Pack, UNSEEN } from '../../flows/publish/pack.js';
import type { NodeVersion } from '../../flows/publish/published.js';
import type { CodeReport } from '../../python/code-report.js';
import { readNumber } from '../command/command.js';
import { type PrintedRequest, printRequests } from '../command/dry-run.js';
import { combineExits, runInParallel } from '../command/parallel.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import type { Service } from '../connect/services.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { Progress } from '../terminal/progress.js';
import { formatCount } from '../terminal/text.js';
import type { PublishRow } from '../views/answers.js';
import { publishFolder, readAllowances, readFolder, tryFolder } from './publish-folder.js';
import { findPublishToken, type PublishContext, type PublishSubject, type PublishToken } from './token.js';

type Context = Needs<
  'flags' | 'system' | 'output' | 'interruption' | 'signal' | 'connect' | 'services' | 'mayAsk'
>;

export interface ManyOptions {
  readonly changelog: string | undefined;
  /** How long to wait for the verdict on each. */
  readonly timeoutMs: number;
  /** Set for a dry run: returns the request to print instead of sending it. */
  readonly preview?: (pack: Pack) => PrintedRequest;
}

/** One of the folders, and its results so far. */
interface Folder {
  readonly dir: string;
  pack?: Pack;
  code?: CodeReport;
  version?: NodeVersion;
  /** Whether the same files had been published before. */
  isExisting?: boolean;
  failure?: Failure;
}

const COLUMNS = ['dir', 'node_id', 'version', 'node_version.status', 'message'];

/**
 * Publishes several folders in parallel, with one report. Decided: all are checked before the first one is sent, and a
 * folder that fails does not stop the others.
 */
export async function publishMany(
  context: Context,
  dirs: readonly string[],
  { changelog, timeoutMs, preview }: ManyOptions,
): Promise<number> {
  const { output, flags } = context;
  const concurrency = readNumber(flags, 'concurrency', { min: 1, max: 16 }) ?? 3;
  const folders = dirs.map((dir): Folder => ({ dir }));
  const countPublished = () => folders.filter(({ version }) => version).length;
  const countFailed = () => folders.filter(({ failure }) => failure).length;
  using progress = new Progress(output);
  const runEach = async (what: string, act: (folder: Folder, context: PublishContext) => Promise<void>) => {
    const left = folders.filter(({ failure }) => !failure);
    if (left.length === 0) return;
    await progress.stage(`${what} ${formatCount(left.length, 'pack')}`);
    await runInParallel(left, concurrency, async (folder) => {
      const part = labelContext(context, folder.dir);
      await act(folder, part).catch((error) => recordFailure(context, folder, error, part.interruption));
      progress.update(`(${countPublished()} published, ${countFailed()} failed)`);
    });
  };
  await runEach('Checking', async (folder, part) => {
    folder.pack = await readFolder(part, folder.dir);
    folder.code = await checkCode(folder.pack, part.output, UNSEEN, readAllowances(flags));
    if (preview) await tryFolder(part, folder.pack, folder.code);
  });
  if (preview) {
    const passed = folders.filter(({ failure }) => !failure);
    await printRequests(context, passed, ({ pack }) => preview(pack as Pack));
  } else {
    context.interruption.hint = 'Run the same command again with --skip-existing to continue.';
    const options = {
      changelog,
      timeoutMs,
      progress: UNSEEN,
      findToken: createTokenFinder(context, folders),
    };
    await runEach('Publishing', async (folder, part) => {
      const onExisting = () => {
        folder.isExisting = true;
      };
      folder.version = await publishFolder(part, folder.pack as Pack, {
        ...{ ...options, onExisting, code: folder.code },
      });
    });
  }
  progress.end();
  if (!preview) {
    const rows = folders.map(toRow);
    await output.answer(output.mode.json ? rows : rows.map(addMessage), { columns: COLUMNS });
    if (countFailed() > 0) await output.note(`${countFailed()} of ${dirs.length} packs failed.`);
    if (countPublished() > 0) await context.services.announce();
  }
  return combineExits(folders.map(({ failure }) => failure?.facts.exit ?? exitCodes.done));
}

/** Each publisher has one token, which is created or asked for once. */
function createTokenFinder(context: Context, folders: readonly Folder[]) {
  const tokens = new Map<string, Promise<PublishToken>>();
  return (service: Service, { publisherId }: PublishSubject) => {
    const nodes = folders.flatMap(({ pack, failure }) =>
      pack?.manifest.publisher === publisherId && !failure ? [pack.manifest.node.id] : [],
    );
    const token = tokens.get(publisherId) ?? findPublishToken(context, service, { publisherId, nodes });
    tokens.set(publisherId, token);
    return token;
  };
}

async function recordFailure(
  { signal, output }: Needs<'output' | 'signal'>,
  folder: Folder,
  error: unknown,
  resume: PublishContext['interruption'],
): Promise<void> {
  signal.throwIfAborted();
  const { dir } = folder;
  const failure = toFailure(error, undefined, resume);
  folder.failure = failure;
  const hint = failure.facts.hint && render(failure.facts.hint, await output.mode.findNames?.(dir));
  await output.failure(
    new Failure(say`${dir}: ${failure.text}`, { ...failure.facts, ...(hint && { hint }) }),
  );
}

/** For people, one column says why a pack was not published. */
function addMessage(row: PublishRow) {
  return { ...row, message: row.error?.message ?? (row.skipped ? 'already published' : '') };
}

function toRow({ dir, pack, version, isExisting = false, failure }: Folder): PublishRow {
  return {
    dir,
    node_id: pack?.manifest.node.id ?? null,
    version: pack?.manifest.version.version ?? null,
    node_version: version ?? null,
    skipped: isExisting,
    error: failure ? { code: failure.facts.code, message: failure.message } : null,
  };
}

/** The context of one of several packs: warnings name its folder, and all else is in the report. */
function labelContext(context: Context, dir: string): PublishContext {
  return {
    ...context,
    output: {
      note: async () => undefined,
      warn: (text) => context.output.warn(`${dir}: ${text}`),
    },
    interruption: { hint: context.interruption.hint, hasBegun: false },
  };
}
