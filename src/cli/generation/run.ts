import { exitCodes, usage } from '../failure.js';
import type { Invocation } from '../invocation.js';
import type { Target } from '../target.js';
import { endingOf, finish, type Outcome } from './finish.js';
import type { Job } from './plan.js';
import { agreeOnPrice } from './price.js';
import { start } from './start.js';
import { together } from './together.js';
import { Watch } from './watch.js';

/** Starts tasks and, unless `--no-wait` is given, waits for them and brings home what they made. */
export async function runJobs(
  invocation: Invocation,
  jobs: readonly Job[],
  target: Target = invocation.target,
): Promise<number> {
  refuseUnused(invocation);
  const watch = new Watch(invocation);
  const ending = endingOf(
    invocation,
    watch,
    jobs.some(({ body }) => body.off_peak === true),
  );
  ending.destination?.check(jobs.map(({ name }) => name));
  const desk = { invocation, ledger: invocation.ledger, target, say: (text: string) => watch.say(text) };
  const resume = new Resume(invocation);
  // Reached before the first job, so that what hinders all of them is said once.
  await agreeOnPrice(invocation, jobs, target);

  const run = async (job: Job): Promise<Outcome> => {
    const { task, seen } = await start(desk, job);
    resume.add(task.id);
    await watch.say(`Task ${task.id}${jobs.length > 1 ? ` of ${job.name}` : ''}`);
    if (invocation.flags.wait === false) return { lines: [task.id], answer: seen.answer };
    watch.state(task.id, seen.state);
    if (jobs.length === 1) await watch.stage('Waiting for it');
    const outcome = await finish(ending, task, seen);
    resume.remove(task.id);
    return outcome;
  };

  try {
    await watch.stage(jobs.length === 1 ? 'Asking for one task' : `Asking for ${jobs.length} tasks`);
    const items = jobs.map((job) => ({ label: job.name, run: () => run(job) }));
    const exit = await together(invocation, watch, items);
    if (exit === exitCodes.done) await invocation.sayWhere(target);
    return exit;
  } finally {
    watch.end();
  }
}

/** Without waiting there is nothing to save, and no time to wait. */
function refuseUnused({ flags }: Invocation): void {
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

  constructor(readonly invocation: Invocation) {
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
    this.invocation.resumeHint =
      this.#ids.size > 0
        ? `The work goes on. Go back to it with: regen task wait ${[...this.#ids].join(' ')}`
        : 'Run the same command again to go on; what was asked for already is not asked for twice.';
  }
}
