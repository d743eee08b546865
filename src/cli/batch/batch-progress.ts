import { combineExits } from '../command/parallel.js';
import { exitCodes, type Failure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { Progress } from '../terminal/progress.js';
import { formatCount } from '../terminal/text.js';
import type { JobResult } from '../views/answers.js';

export type JobStatus = JobResult['status'];

/** Jobs that ended in earlier runs, and what they cost. */
export interface EarlierRuns {
  readonly done: number;
  readonly failed: number;
  readonly credits: number;
}

export class BatchProgress {
  readonly #counts: Record<JobStatus, number> = {
    ...{ done: 0, failed: 0, running: 0, unsaved: 0, unanswered: 0, unsent: 0 },
  };
  readonly #exits = new Set<number>();
  #credits: number;
  #underWay = 0;
  readonly #progress: Progress;
  readonly #begun: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly output: Output,
    readonly total: number,
    readonly before: EarlierRuns,
  ) {
    this.#credits = before.credits;
    this.#progress = new Progress(output);
    this.#begun = output.system.now();
  }

  async open(): Promise<void> {
    const earlier = this.before.done + this.before.failed;
    const jobs = formatCount(this.total, 'job');
    await this.#progress.stage(
      earlier > 0 ? `Running ${jobs}; ${earlier} ended in earlier runs` : `Running ${jobs}`,
    );
    this.#timer = setInterval(() => this.#tick(), 1000).unref();
    this.#tick();
  }

  begin(): void {
    this.#underWay += 1;
    this.#tick();
  }

  record(
    { status, failure }: { readonly status: JobStatus; readonly failure?: Failure },
    credits: number,
  ): void {
    this.#underWay -= 1;
    this.#counts[status] += 1;
    this.#exits.add(failure?.facts.exit ?? exitCodes.done);
    if (status === 'done') this.#credits += credits;
    this.#tick();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#progress.end();
  }

  get done(): number {
    return this.before.done + this.#counts.done;
  }

  get failed(): number {
    return this.before.failed + this.#counts.failed;
  }

  /** Jobs that the next run continues. */
  get left(): number {
    return this.total - this.done - this.failed;
  }

  /** Decided: the exit code of the jobs of this run; never 0 if a job is left, or failed in an earlier run. */
  get exit(): number {
    const exit = combineExits(this.#exits);
    return exit === exitCodes.done && this.done < this.total ? exitCodes.someFailed : exit;
  }

  get summary(): string {
    const { running, unsaved, unanswered } = this.#counts;
    const parts = joinCounts([
      [this.done, 'done'],
      [this.failed, 'failed'],
      [this.#underWay + running, 'still running'],
      [unsaved, 'not saved'],
      [unanswered, 'without a response'],
      [this.left - this.#underWay - running - unsaved - unanswered, 'not sent'],
      [this.#credits, 'credits'],
    ]);
    return `${formatCount(this.total, 'job')}: ${parts}.`;
  }

  #tick(): void {
    const ended = Object.values(this.#counts).reduce((sum, count) => sum + count, 0);
    const left = this.total - this.before.done - this.before.failed - ended;
    const parts = joinCounts([
      [this.done, 'done'],
      [this.failed, 'failed'],
      [this.#underWay, 'running'],
      [left - this.#underWay, 'queued'],
      [this.#credits, 'credits'],
    ]);
    this.#progress.update(`(${[parts, this.#timeLeft(ended, left)].filter(Boolean).join(', ')})`);
  }

  /** Undefined until enough jobs ended for an estimate. */
  #timeLeft(ended: number, left: number): string | undefined {
    const ms = this.output.system.now() - this.#begun;
    if (ended < 10 || ms < 5000 || left === 0) return undefined;
    const seconds = Math.ceil(((ms / ended) * left) / 1000);
    return seconds < 60 ? `about ${seconds} s left` : `about ${Math.ceil(seconds / 60)} min left`;
  }
}

function joinCounts(counts: readonly (readonly [count: number, what: string])[]): string {
  return counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ');
}
