import type { ParsedCommand } from '../command/command.js';
import { combineExits, runInParallel } from '../command/parallel.js';
import { toFailure, useCommandLineNames } from '../command/to-failure.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { Progress } from '../terminal/progress.js';
import { oneLine } from '../terminal/text.js';
import type { Outcome } from './await-task.js';

/** One of a command's items, with what it is called where there are several. */
export interface Item {
  readonly label: string;
  run(): Promise<Outcome>;
}

// Decided: four tasks of one command are under way at a time; more would only wait at the service.
const CONCURRENCY = 4;

interface RunAllContext extends ParsedCommand {
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** Runs items in parallel, prints what comes of each in their order, and gives the exit code of all. */
export async function runAll(context: RunAllContext, watch: Watch, items: readonly Item[]): Promise<number> {
  const { output } = context;
  const outcomes: Outcome[] = [];
  let printed = 0;
  let printing = Promise.resolve();
  const printReady = async () => {
    for (let outcome = outcomes[printed]; outcome; outcome = outcomes[printed]) {
      const label = items.length > 1 ? items[printed]?.label : undefined;
      printed += 1;
      await printOutcome(output, outcome, label);
    }
  };
  await runInParallel(items.entries(), CONCURRENCY, async ([at, item]) => {
    outcomes[at] = await runOne(item, context);
    printing = printing.then(printReady);
    await printing;
  });
  watch.end();
  if (output.mode.json) {
    const answers = outcomes.map(({ answer }) => answer ?? null);
    await output.answer(items.length === 1 ? answers[0] : answers);
  }
  return combineExits(outcomes.map(({ failure }) => failure?.facts.exit ?? exitCodes.done));
}

async function printOutcome(output: Output, { lines, failure }: Outcome, label?: string): Promise<void> {
  if (!output.mode.json) for (const line of lines) await output.line(oneLine(line));
  if (!failure) return;
  await output.failure(
    label === undefined ? failure : new Failure(`${label}: ${failure.message}`, failure.facts),
  );
}

async function runOne(item: Item, context: RunAllContext): Promise<Outcome> {
  const { signal } = context;
  signal.throwIfAborted();
  try {
    return await item.run();
  } catch (error) {
    signal.throwIfAborted();
    const failure = useCommandLineNames(toFailure(error), context);
    const { code, status, requestId: request_id } = failure.facts;
    return { lines: [], answer: { error: { code, message: failure.message, status, request_id } }, failure };
  }
}

/** Tells a person what the tasks of a command are at: a spinner with states and elapsed time. */
export class Watch {
  readonly #progress: Progress;
  readonly #states = new Map<string, string>();
  readonly #begun: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly output: Output) {
    this.#progress = new Progress(output);
    this.#begun = output.system.now();
  }

  async stage(text: string): Promise<void> {
    await this.#progress.stage(text);
    this.#timer ??= setInterval(() => this.#tick(), 1000).unref();
    this.#tick();
  }

  /** What a task was last seen to be. */
  state(id: string, state: string): void {
    this.#states.set(id, state);
    this.#tick();
  }

  /** A line that stays. */
  say(text: string): Promise<void> {
    return this.output.note(text);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#progress.end();
  }

  #tick(): void {
    const seconds = Math.round((this.output.system.now() - this.#begun) / 1000);
    this.#progress.update(`(${[...this.#counted(), formatElapsed(seconds)].join(', ')})`);
  }

  #counted(): string[] {
    const counts = new Map<string, number>();
    for (const state of this.#states.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
    return [...counts].map(([state, count]) => (this.#states.size === 1 ? state : `${count} ${state}`));
  }
}

function formatElapsed(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
