import type { ParsedCommand } from '../command/command.js';
import { failureOf } from '../command/failure-of.js';
import { inWords } from '../command/in-words.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { oneLine } from '../terminal/text.js';
import type { Outcome } from './await-task.js';
import type { Watch } from './watch.js';

/** One of a command's items, with what it is called where there are several. */
export interface Item {
  readonly label: string;
  run(): Promise<Outcome>;
}

// Decided: four tasks of one command are under way at a time; more would only wait at the service.
const atOnce = 4;

interface RunAllContext extends ParsedCommand {
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** Runs items side by side, prints what comes of each in their order, and gives the exit code of all. */
export async function together(
  context: RunAllContext,
  watch: Watch,
  items: readonly Item[],
): Promise<number> {
  const { output } = context;
  const outcomes: Outcome[] = [];
  const running = bounded(items, context);
  // Looked at one after the other below; until then a failure must not count as unhandled.
  for (const one of running) one.catch(() => undefined);
  for (const [at, { label }] of items.entries()) {
    const outcome = await (running[at] as Promise<Outcome>);
    outcomes.push(outcome);
    if (!output.mode.json) for (const line of outcome.lines) await output.line(oneLine(line));
    if (outcome.failure) {
      await output.failure(items.length > 1 ? named(outcome.failure, label) : outcome.failure);
    }
  }
  watch.end();
  if (output.mode.json) {
    const answers = outcomes.map(({ answer }) => answer ?? null);
    await output.answer(items.length === 1 ? answers[0] : answers);
  }
  return exitOf(outcomes);
}

function bounded(items: readonly Item[], context: RunAllContext): Promise<Outcome>[] {
  const queue: (() => void)[] = [];
  let free = atOnce;
  return items.map(async (item) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((go) => queue.push(go));
    try {
      return await outcomeOf(item, context);
    } finally {
      const next = queue.shift();
      if (next) next();
      else free += 1;
    }
  });
}

async function outcomeOf(item: Item, context: RunAllContext): Promise<Outcome> {
  const { signal } = context;
  signal.throwIfAborted();
  try {
    return await item.run();
  } catch (error) {
    signal.throwIfAborted();
    const failure = inWords(failureOf(error), context);
    const { code, status, requestId: request_id } = failure.facts;
    return { lines: [], answer: { error: { code, message: failure.message, status, request_id } }, failure };
  }
}

function named(failure: Failure, label: string): Failure {
  return new Failure(`${label}: ${failure.message}`, failure.facts);
}

/** One item ends as itself; of several that ended alike, as each of them; else some failed. */
function exitOf(outcomes: readonly Outcome[]): number {
  const failures = outcomes.flatMap(({ failure }) => failure ?? []);
  if (failures.length === 0) return exitCodes.done;
  const exits = new Set(failures.map(({ facts }) => facts.exit));
  const alike = failures.length === outcomes.length && exits.size === 1;
  const telling: number[] = [exitCodes.notAllowed, exitCodes.unreachable, exitCodes.stillGoing];
  const [exit] = exits;
  if (outcomes.length === 1 || (alike && telling.includes(exit as number))) return exit as number;
  return exitCodes.someFailed;
}
