import type { ParsedCommand } from '../command/command.js';
import type { EntryChoice, Ledger } from '../connect/ledger.js';
import type { Target } from '../connect/target.js';
import { exitCodes, usage } from '../terminal/failure.js';
import type { Interruption } from '../terminal/interrupted.js';
import type { System } from '../terminal/system.js';
import { finishTask, type Outcome, planAwait } from './await-task.js';
import type { Job } from './plan.js';
import { agreeOnPrice, type PriceContext } from './price.js';
import { runAll, Watch } from './run-tasks.js';
import { startTask } from './start.js';
import type { Task, TaskContext } from './task.js';

interface RunJobsContext extends ParsedCommand, PriceContext, TaskContext {
  readonly system: System;
  readonly interruption: Interruption;
}

/** Starts tasks and, unless `--no-wait` is given, waits for them and brings home what they made. */
export async function runJobs(
  context: RunJobsContext,
  jobs: readonly Job[],
  target: Target = context.services.target,
  choice: EntryChoice = context.flags.again === true ? 'new' : 'unfinished',
): Promise<number> {
  refuseUnused(context.flags);
  const { services, ledger, output, system, signal } = context;
  const watch = new Watch(output);
  const awaiting = planAwait(
    context,
    watch,
    jobs.some(({ body }) => body.off_peak === true),
    true,
  );
  const { destination } = awaiting;
  destination?.check(
    jobs.map(({ name }) => name),
    (path) => choice === 'unfinished' && ledger.isUnfinishedAt(path),
  );
  const entries = new Entries(ledger);
  const starting = {
    services,
    ledger,
    output,
    system,
    signal,
    target,
    say: (text: string) => watch.say(text),
  };
  const resume = new Resume(context.interruption);
  // Reached before the first job, so that what hinders all of them is said once.
  await agreeOnPrice(context, jobs, target);

  const run = async (job: Job): Promise<Outcome> => {
    const { task, seen } = await startTask(starting, job, {
      choice,
      output: destination?.firstPath(job.name),
      onEntry: (id) => entries.add(id),
    });
    resume.add(task.id);
    await watch.say(`Task ${task.id}${jobs.length > 1 ? ` of ${job.name}` : ''}`);
    if (context.flags.wait === false) {
      entries.end(task);
      return { lines: [task.id], answer: seen.answer };
    }
    watch.state(task.id, seen.state);
    if (jobs.length === 1) await watch.stage('Waiting for it');
    const outcome = await finishTask(awaiting, task, seen);
    if (outcome.failure?.facts.code !== 'still_running') entries.end(task);
    resume.remove(task.id);
    return outcome;
  };

  try {
    await watch.stage(jobs.length === 1 ? 'Asking for one task' : `Asking for ${jobs.length} tasks`);
    const items = jobs.map((job) => ({ label: job.name, run: () => run(job) }));
    const exit = await runAll(context, watch, items);
    entries.close();
    if (exit === exitCodes.done) await services.announce(target);
    return exit;
  } finally {
    watch.end();
  }
}

/**
 * The entries of one command. They are closed runAll, once all that the command started has come to an end: until
 * then the same command, run again, takes them up, the finished ones too.
 */
class Entries {
  readonly #open = new Set<string>();
  readonly #ended = new Set<string>();

  constructor(readonly ledger: Ledger) {}

  add(id: string): void {
    this.#open.add(id);
  }

  end({ entry }: Task): void {
    if (entry) this.#ended.add(entry.id);
  }

  close(): void {
    const { ledger } = this;
    // One that was refused is not in the ledger any more.
    const isOver = (id: string) => this.#ended.has(id) || ledger.read(id) === undefined;
    if ([...this.#open].every(isOver)) for (const id of this.#ended) ledger.change(id, { closed: true });
  }
}

/** Without waiting there is nothing to save, and no time to wait. */
function refuseUnused(flags: ParsedCommand['flags']): void {
  if (flags.wait !== false) return;
  const unused = ['output', 'force', 'receipt', 'timeout', 'interval'].find(
    (flag) => flags[flag] !== undefined,
  );
  if (!unused) return;
  throw usage(
    `--no-wait and --${unused} exclude each other.`,
    'Use it with `regen task wait` or `task download`.',
  );
}

/** Keeps the command that resumes in step with the tasks that are under way. */
export class Resume {
  readonly #ids = new Set<string>();

  constructor(readonly interruption: Interruption) {
    this.#tell();
  }

  add(id: string): void {
    this.#ids.add(id);
    this.#tell();
  }

  remove(id: string): void {
    this.#ids.delete(id);
    this.#tell();
  }

  #tell(): void {
    this.interruption.hint =
      this.#ids.size > 0
        ? `The work goes on. Go back to it with: regen task wait ${[...this.#ids].join(' ')}`
        : 'Run the same command again to go on; what was asked for already is not asked for twice.';
  }
}
