import { type PrintedRequest, printRequests } from '../command/dry-run.js';
import { combineExits, readConcurrency, runInParallel } from '../command/parallel.js';
import { toFailure } from '../command/to-failure.js';
import type { Service } from '../connect/services.js';
import { exitCodes, Failure } from '../terminal/failure.js';
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
  const concurrency = readConcurrency(context.flags.concurrency, { usual: 3, max: 16 });
  const run = new Run(context, dirs);
  try {
    await run.each('Checking', dirs, concurrency, async (dir) => {
      const part = labelContext(context, dir);
      const pack = await readPack(part, dir);
      run.read.set(dir, pack);
      await checkCode(part, pack, silent);
    });
    const sound = dirs.filter((dir) => !run.failures.has(dir));
    const { preview } = options;
    if (preview)
      await printRequests(
        context,
        sound.map((dir) => preview(run.read.get(dir) as Pack)),
      );
    else await publishAll(run, sound, concurrency, options);
  } finally {
    run.end();
  }
  if (!options.preview) {
    await output.answer(run.rows, { columns });
    const failed = run.failures.size;
    if (failed > 0) await output.note(`${failed} of ${dirs.length} failed.`);
    if (run.published.size > 0) await context.services.announce();
  }
  return combineExits(dirs.map((dir) => run.failures.get(dir)?.facts.exit ?? exitCodes.done));
}

async function publishAll(
  run: Run,
  dirs: readonly string[],
  concurrency: number,
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
  await run.each('Publishing', dirs, concurrency, async (dir) => {
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

  /** Does something for each folder, several in parallel; the report says which failed. */
  async each(
    what: string,
    dirs: readonly string[],
    concurrency: number,
    act: (dir: string) => Promise<void>,
  ): Promise<void> {
    if (dirs.length === 0) return;
    await this.#progress.stage(`${what} ${dirs.length} ${dirs.length === 1 ? 'pack' : 'packs'}`);
    await runInParallel(dirs, concurrency, async (dir) => {
      await act(dir).catch((error) => this.#failed(dir, error));
      this.#progress.update(`(${this.published.size} published, ${this.failures.size} failed)`);
    });
  }

  async #failed(dir: string, error: unknown): Promise<void> {
    const { signal, output } = this.context;
    signal.throwIfAborted();
    const failure = toFailure(error);
    this.failures.set(dir, failure);
    await output.failure(new Failure(`${dir}: ${failure.message}`, failure.facts));
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
