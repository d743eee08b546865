import type { FlagValues } from '../command/command.js';
import { type PrintedRequest, printRequests } from '../command/dry-run.js';
import { failureOf } from '../command/failure-of.js';
import type { Service } from '../connect/services.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import { Progress, type Stages } from '../terminal/progress.js';
import { checkCode } from './findings.js';
import { type Pack, readPack } from './pack.js';
import { publishPack } from './publish-pack.js';
import type { NodeVersion } from './published.js';
import { labelContext, type PublishContext } from './publishing.js';
import { type PublishToken, publishToken } from './token.js';

export interface ManyOptions {
  readonly changelog: string | undefined;
  /** How long to wait for the registry, of each. Milliseconds. */
  readonly timeoutMs: number;
  /** Shows what would be sent, in place of sending it. */
  readonly preview?: (pack: Pack) => PrintedRequest;
}

/** One row of the report. */
interface Row {
  readonly dir: string;
  readonly node_id: string | null;
  readonly version: string | null;
  /** As the registry has it; null where it was not published. */
  readonly node_version: NodeVersion | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

const columns = ['dir', 'node_id', 'version', 'node_version.status', 'error.message'];

/**
 * Publishes several folders, some at a time, and reports on all of them. Decided: all are checked before the first is
 * sent; one that does not pass keeps no other from being published.
 */
export async function publishMany(
  context: PublishContext,
  dirs: readonly string[],
  options: ManyOptions,
): Promise<number> {
  const { output } = context;
  const atOnce = atOnceOf(context.flags);
  const run = new Run(context, dirs);
  try {
    await run.stage('Checking');
    const packs = await run.each(dirs, atOnce, async (dir) => {
      const part = labelContext(context, dir);
      const pack = await readPack(part, dir);
      run.read.set(dir, pack);
      await checkCode(part, pack, silent);
      return pack;
    });
    const sound = dirs.filter((_, at) => packs[at]);
    const { preview } = options;
    if (preview)
      await printRequests(
        context,
        sound.map((dir) => preview(run.read.get(dir) as Pack)),
      );
    else await publishAll(run, sound, atOnce, options);
  } finally {
    run.end();
  }
  if (!options.preview) {
    await output.answer(run.rows, { columns });
    const failed = run.failures.size;
    if (failed > 0) await output.note(`${failed} of ${dirs.length} failed.`);
    if (run.published.size > 0) await context.services.announce();
  }
  return exitOf(run.failures, dirs.length);
}

async function publishAll(
  run: Run,
  dirs: readonly string[],
  atOnce: number,
  { changelog, timeoutMs }: ManyOptions,
): Promise<void> {
  const { context } = run;
  context.interruption.hint = 'Run the same command again with --skip-existing to go on.';
  const tokens = new Map<string, Promise<PublishToken>>();
  // One of each publisher, made or asked for once.
  const tokenOf = (service: Service, publisherId: string) => {
    const token = tokens.get(publisherId) ?? publishToken(context, service, publisherId);
    tokens.set(publisherId, token);
    return token;
  };
  await run.stage('Publishing');
  await run.each(dirs, atOnce, async (dir) => {
    const options = { changelog, timeoutMs, progress: silent, tokenOf };
    const pack = run.read.get(dir) as Pack;
    run.published.set(dir, await publishPack(labelContext(context, dir), pack, options));
  });
}

/** What became of each folder so far, and how a person hears of it. */
class Run {
  readonly read = new Map<string, Pack>();
  readonly published = new Map<string, NodeVersion>();
  readonly failures = new Map<string, Failure>();
  readonly #progress: Progress;

  constructor(
    readonly context: PublishContext,
    readonly dirs: readonly string[],
  ) {
    this.#progress = new Progress(context.output);
  }

  stage(what: string): Promise<void> {
    return this.#progress.stage(`${what} ${this.dirs.length} packs`);
  }

  /** Does something for each, so many at a time; of those that fail nothing is given. */
  async each<Result>(
    dirs: readonly string[],
    atOnce: number,
    act: (dir: string) => Promise<Result>,
  ): Promise<(Result | undefined)[]> {
    const results: (Result | undefined)[] = [];
    const left = dirs.entries();
    const work = async () => {
      for (const [at, dir] of left) {
        results[at] = await act(dir).catch((error) => this.#failed(dir, error));
        this.#progress.update(`(${this.published.size} published, ${this.failures.size} failed)`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return results;
  }

  async #failed(dir: string, error: unknown): Promise<undefined> {
    const { signal, output } = this.context;
    signal.throwIfAborted();
    const failure = failureOf(error);
    this.failures.set(dir, failure);
    await output.failure(new Failure(`${dir}: ${failure.message}`, failure.facts));
    return undefined;
  }

  end(): void {
    this.#progress.end();
  }

  get rows(): Row[] {
    return this.dirs.map((dir) => {
      const { manifest } = this.read.get(dir) ?? {};
      const failure = this.failures.get(dir);
      return {
        dir,
        node_id: manifest?.node.id ?? null,
        version: manifest?.version.version ?? null,
        node_version: this.published.get(dir) ?? null,
        error: failure ? { code: failure.facts.code, message: failure.message } : null,
      };
    });
  }
}

/** Several packs share one display. */
const silent: Stages = {
  stage: async () => undefined,
  update: () => undefined,
  transferred: () => undefined,
  end: () => undefined,
};

const most = 16;

function atOnceOf({ concurrency = '3' }: FlagValues): number {
  const atOnce = /^\d{1,4}$/.test(String(concurrency)) ? Number(concurrency) : 0;
  if (atOnce >= 1 && atOnce <= most) return atOnce;
  throw usage(`--concurrency is a whole number from 1 to ${most}, not '${concurrency}'.`);
}

/** All failed alike: as each of them; some failed: 9. */
function exitOf(failures: ReadonlyMap<string, Failure>, count: number): number {
  if (failures.size === 0) return exitCodes.done;
  const exits = new Set([...failures.values()].map(({ facts }) => facts.exit));
  const [exit] = exits;
  return failures.size === count && exits.size === 1 ? (exit as number) : exitCodes.someFailed;
}
