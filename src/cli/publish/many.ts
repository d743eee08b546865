import { render, say, type Text } from '../../contract/schema/message.js';
import type { Pack, Stages } from '../../flows/publish/pack.js';
import type { NodeVersion } from '../../flows/publish/published.js';
import { readNumber } from '../command/command.js';
import { type PrintedRequest, printRequests } from '../command/dry-run.js';
import { combineExits, runInParallel } from '../command/parallel.js';
import { toFailure } from '../command/to-failure.js';
import type { Service } from '../connect/services.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { Output } from '../terminal/output.js';
import { Progress } from '../terminal/progress.js';
import type { PublishRow } from '../views/answers.js';
import { checkFolder, publishFolder, readFolder } from './publish-folder.js';
import { findPublishToken, type PublishContext, type PublishToken } from './token.js';

export interface ManyOptions {
  readonly changelog: string | undefined;
  /** How long to wait for the verdict on each. */
  readonly timeoutMs: number;
  /** Set for a dry run: returns the request to print instead of sending it. */
  readonly preview?: (pack: Pack) => PrintedRequest;
}

const COLUMNS = ['dir', 'node_id', 'version', 'node_version.status', 'error.message'];

/**
 * Publishes several folders in parallel, with one report. Decided: all are checked before the first one is sent, and a
 * folder that fails does not stop the others.
 */
export async function publishMany(
  context: PublishContext,
  dirs: readonly string[],
  options: ManyOptions,
): Promise<number> {
  const { output } = context;
  const concurrency = readNumber(context.flags, 'concurrency', { min: 1, max: 16 }) ?? 3;
  const run = new PublishRun(context, dirs);
  try {
    await run.each('Checking', dirs, concurrency, async (dir) => {
      const part = labelContext(context, dir);
      const pack = await readFolder(part, dir);
      run.read.set(dir, pack);
      await checkFolder(part, pack, SILENT);
    });
    const passed = dirs.filter((dir) => !run.failures.has(dir));
    const { preview } = options;
    if (preview) await printRequests(context, passed, (dir) => preview(run.read.get(dir) as Pack));
    else await publishAll(run, passed, concurrency, options);
  } finally {
    run.end();
  }
  if (!options.preview) {
    await output.answer(run.rows, { columns: COLUMNS });
    const failed = run.failures.size;
    if (failed > 0) await output.note(`${failed} of ${dirs.length} packs failed.`);
    if (run.published.size > 0) await context.services.announce();
  }
  return combineExits(dirs.map((dir) => run.failures.get(dir)?.facts.exit ?? exitCodes.done));
}

async function publishAll(
  run: PublishRun,
  dirs: readonly string[],
  concurrency: number,
  { changelog, timeoutMs }: ManyOptions,
): Promise<void> {
  const { context } = run;
  context.interruption.hint = 'Run the same command again with --skip-existing to continue.';
  const tokens = new Map<string, Promise<PublishToken>>();
  // Each publisher has one token, which is created or asked for once.
  const findToken = (service: Service, publisherId: string) => {
    const token = tokens.get(publisherId) ?? findPublishToken(context, service, publisherId);
    tokens.set(publisherId, token);
    return token;
  };
  await run.each('Publishing', dirs, concurrency, async (dir) => {
    const options = { changelog, timeoutMs, progress: SILENT, findToken };
    const pack = run.read.get(dir) as Pack;
    run.published.set(dir, await publishFolder(labelContext(context, dir), pack, options));
  });
}

/** The results for each folder so far, and the progress display. */
class PublishRun {
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

  /** Calls `act` for several folders in parallel, and records which ones failed. */
  async each(
    what: string,
    dirs: readonly string[],
    concurrency: number,
    act: (dir: string) => Promise<void>,
  ): Promise<void> {
    if (dirs.length === 0) return;
    await this.#progress.stage(`${what} ${dirs.length} ${dirs.length === 1 ? 'pack' : 'packs'}`);
    await runInParallel(dirs, concurrency, async (dir) => {
      await act(dir).catch((error) => this.#recordFailure(dir, error));
      this.#progress.update(`(${this.published.size} published, ${this.failures.size} failed)`);
    });
  }

  async #recordFailure(dir: string, error: unknown): Promise<void> {
    const { signal, output } = this.context;
    signal.throwIfAborted();
    const failure = toFailure(error);
    this.failures.set(dir, failure);
    const hint = failure.facts.hint && render(failure.facts.hint, await output.mode.findNames?.(dir));
    await output.failure(
      new Failure(say`${dir}: ${failure.text}`, { ...failure.facts, ...(hint && { hint }) }),
    );
  }

  end(): void {
    this.#progress.end();
  }

  get rows(): PublishRow[] {
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

/** Several packs share one progress display. */
const SILENT: Stages = {
  stage: async () => undefined,
  update: () => undefined,
  transferred: () => undefined,
  end: () => undefined,
};

/** The context of one of several packs: warnings name its folder, and all else is in the report. */
function labelContext(context: PublishContext, dir: string): PublishContext {
  return {
    ...context,
    output: new LabelledOutput(context.output, dir),
    interruption: { hint: undefined },
  };
}

class LabelledOutput extends Output {
  constructor(
    readonly whole: Output,
    readonly label: string,
  ) {
    super(whole.system, whole.mode);
  }

  override async note(): Promise<void> {}

  override warn(text: Text): Promise<void> {
    return this.whole.warn(say`${this.label}: ${text}`);
  }
}
