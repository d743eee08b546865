import { findEnd } from '../../flows/tasks/task-state.js';
import type { ParsedCommand } from '../command/command.js';
import { combineExits, runInParallel } from '../command/parallel.js';
import { toFailure, useCommandLineNames } from '../command/to-failure.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { Progress } from '../terminal/progress.js';
import { oneLine } from '../terminal/text.js';
import { NOT_ANSWERING, type TaskOutcome } from './finish-task.js';

/** One task of a command. Its label is printed if there are several. */
export interface TaskItem {
  readonly label: string;
  run(): Promise<TaskOutcome>;
}

// Decided: a command runs four tasks in parallel; more would only queue at the service.
const CONCURRENCY = 4;

interface RunAllContext extends ParsedCommand {
  readonly output: Output;
  readonly signal: AbortSignal;
}

/**
 * Runs items in parallel, and prints their outcomes in order.
 * @returns the combined exit code
 */
export async function runAll(
  context: RunAllContext,
  watch: Watch,
  items: readonly TaskItem[],
): Promise<number> {
  const { output } = context;
  const outcomes: TaskOutcome[] = [];
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
    const answers = outcomes.map(
      ({ answer, failure }) => answer ?? (failure ? toErrorAnswer(failure) : null),
    );
    // Of several tasks each has its place. What failed with one is on stderr, as with any other command.
    if (items.length !== 1) await output.answer(answers);
    else if (outcomes[0]?.answer !== undefined) await output.answer(outcomes[0].answer);
  }
  return combineExits(outcomes.map(({ failure }) => failure?.facts.exit ?? exitCodes.done));
}

async function printOutcome(output: Output, { lines, failure }: TaskOutcome, label?: string): Promise<void> {
  if (!output.mode.json) for (const line of lines) await output.line(oneLine(line));
  if (!failure) return;
  await output.failure(
    label === undefined ? failure : new Failure(`${label}: ${failure.message}`, failure.facts),
  );
}

async function runOne(item: TaskItem, context: RunAllContext): Promise<TaskOutcome> {
  const { signal } = context;
  signal.throwIfAborted();
  try {
    return await item.run();
  } catch (error) {
    signal.throwIfAborted();
    return { lines: [], failure: useCommandLineNames(toFailure(error), context) };
  }
}

function toErrorAnswer({ message, facts: { code, status, requestId: request_id } }: Failure) {
  return { error: { code, message, status, request_id } };
}

/** Shows the progress of the tasks of a command: a spinner with their states and the elapsed time. */
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

  /** Reports the latest state of a task. */
  state(id: string, state: string): void {
    this.#states.set(id, state);
    this.#tick();
  }

  /** Prints a line that stays. */
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
    this.#progress.update(`(${[...this.#countStates(), formatElapsed(seconds)].join(', ')})`);
  }

  #countStates(): string[] {
    const counts = new Map<string, number>();
    for (const state of this.#states.values()) {
      const word = describeState(state);
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    return [...counts].map(([word, count]) => (this.#states.size === 1 ? word : `${count} ${word}`));
  }
}

const QUEUED_STATES = ['CREATED', 'created', 'queueing'];

/** The state in the words of a person; services use different ones for images and videos. */
function describeState(state: string): string {
  const end = findEnd(state);
  if (end) return end === 'well' ? 'done' : 'failed';
  if (state === NOT_ANSWERING) return state;
  return QUEUED_STATES.includes(state) ? 'queued' : 'running';
}

function formatElapsed(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
