import { combineExits } from '../command/parallel.js';
import { exitCodes, type Failure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { Progress } from '../terminal/progress.js';
import { formatCount, withoutPeriod } from '../terminal/text.js';
import type { JobResult } from '../views/answers.js';

export type JobStatus = JobResult['status'];

/** Jobs that ended in earlier runs, and what they cost. */
export interface EarlierRuns {
  readonly done: number;
  readonly failed: number;
  readonly credits: number;
  /** The exit codes of these jobs. */
  readonly exits: ReadonlySet<number>;
}

export class BatchProgress {
  readonly #counts: Record<JobStatus, number> = {
    ...{ done: 0, failed: 0, running: 0, unsaved: 0, unanswered: 0, unsent: 0 },
  };
  readonly #exits: Set<number>;
  /** The lines of jobs that the same command cannot send, by the reason. */
  readonly #refused = new Map<string, number[]>();
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
    this.#exits = new Set(before.exits);
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
    line: number,
    { status, failure }: { readonly status: JobStatus; readonly failure?: Failure },
    credits: number,
  ): void {
    this.#underWay -= 1;
    this.#counts[status] += 1;
    this.#exits.add(failure?.facts.exit ?? exitCodes.done);
    if (status === 'done') this.#credits += credits;
    if (status === 'unsent' && failure && !PASSING_EXITS.includes(failure.facts.exit)) {
      const { code } = failure.facts;
      const reason = REASONS.has(code)
        ? code
        : `failed before it was sent: ${withoutPeriod(failure.message)}`;
      this.#refused.set(reason, [...(this.#refused.get(reason) ?? []), line]);
    }
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

  /** Jobs that the same command can continue. */
  get resumable(): number {
    return [...this.#refused.values()].reduce((left, lines) => left - lines.length, this.left);
  }

  /** Why jobs were not sent that the same command cannot send; undefined if there are none. */
  get refusals(): string | undefined {
    if (this.#refused.size === 0) return undefined;
    const parts = [...this.#refused].map(([reason, lines]) => {
      const count = lines.length;
      const shown = lines.slice(0, MAX_LINES).join(', ');
      const more = count > MAX_LINES ? ` and ${count - MAX_LINES} more` : '';
      const [one, several] = REASONS.get(reason) ?? [reason, reason];
      return `${count} ${count > 1 ? several : one} (line${count > 1 ? 's' : ''} ${shown}${more})`;
    });
    return `Not sent: ${parts.join('; ')}.`;
  }

  /** Decided: the common exit code of the jobs of the file, also of those of earlier runs; never 0 if a job is left. */
  get exit(): number {
    const exit = combineExits(this.#exits);
    return exit === exitCodes.done && this.done < this.total ? exitCodes.someFailed : exit;
  }

  /** @param replaced what tasks have cost whose job was sent again */
  summarize(replaced: number): string {
    const { running, unsaved, unanswered } = this.#counts;
    const parts = joinCounts([
      [this.done, 'done'],
      [this.failed, 'failed'],
      [this.#underWay + running, 'still running'],
      [unsaved, 'not saved'],
      [unanswered, 'without a response'],
      [this.left - this.#underWay - running - unsaved - unanswered, 'not sent'],
      [
        this.#credits,
        replaced > 0 ? `credits (${this.#credits + replaced} with replaced results)` : 'credits',
      ],
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

/** Of failures that pass without a change of the file or the command. */
const PASSING_EXITS: readonly number[] = [
  exitCodes.unreachable,
  exitCodes.notAllowed,
  exitCodes.stillGoing,
  exitCodes.conflict,
];

/** Why a job was not sent, by the code of its failure: of one job, and of several. */
const REASONS = new Map([
  ['over_budget', ['needs a higher --max-credits', 'need a higher --max-credits']],
  ['price_unknown', ['has no published price', 'have no published price']],
  ['not_found', ['names a task that is not known', 'name tasks that are not known']],
]);

/** More lines are only counted. */
const MAX_LINES = 10;

function joinCounts(counts: readonly (readonly [count: number, what: string])[]): string {
  return counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ');
}
