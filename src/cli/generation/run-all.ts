import type { ParsedCommand } from '../command/command.js';
import { failureOf } from '../command/failure-of.js';
import { inWords } from '../command/in-words.js';
import { combineExits, runInParallel } from '../command/parallel.js';
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
    const failure = inWords(failureOf(error), context);
    const { code, status, requestId: request_id } = failure.facts;
    return { lines: [], answer: { error: { code, message: failure.message, status, request_id } }, failure };
  }
}
