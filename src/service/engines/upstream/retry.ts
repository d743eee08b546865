import type { TaskKind } from '../../../contract/operation.js';
import { backoffMs } from '../../../wire/backoff.js';
import type { VendorSettings } from '../../configuration/generation-settings.js';
import type { Context } from '../../operation/context.js';
import { EngineFailure, type EngineJob, type EngineMemory } from '../../operation/engine.js';
import type { VendorCallbacks } from './callbacks.js';
import type { UpstreamState } from './state.js';
import type { Vendor } from './vendor.js';

/** What all tasks at one vendor share. */
export interface UpstreamOptions {
  readonly settings: VendorSettings;
  readonly vendor: Vendor;
  readonly callbacks: VendorCallbacks;
  /** Reads the state of another task, if it has the same creator. */
  readonly readState: (taskId: string, job: EngineJob) => Promise<UpstreamState>;
  readonly now: Context['now'];
  readonly log: Context['log'];
}

/** One attempt at a task of this service that a vendor runs. */
export interface UpstreamTask extends UpstreamOptions {
  readonly kind: TaskKind;
  readonly job: EngineJob;
  readonly memory: EngineMemory;
  /** Aborted when the service stops. */
  readonly signal: AbortSignal;
  /** Waits and reports progress, so that the attempt does not count as stalled. */
  readonly wait: (ms: number) => Promise<void>;
}

/** Why a step failed and for how long it is retried. */
export interface RetryReason {
  readonly why: string;
  /** The pause that the vendor asked for. Milliseconds. */
  readonly askedMs?: number | undefined;
  /** How long the step may keep failing. Milliseconds. */
  readonly timeoutMs: number;
}

/** Repeats a step with growing pauses while it fails. */
export class RetryLoop {
  readonly #task: UpstreamTask;
  readonly #pauses: PollPauses;
  #since: number | undefined;

  constructor(task: UpstreamTask) {
    this.#task = task;
    this.#pauses = new PollPauses(task.settings.pollMs);
  }

  /** Waits before the next poll, after a successful one. */
  async waitForPoll(): Promise<void> {
    this.#since = undefined;
    await this.#task.wait(this.#pauses.next());
  }

  /**
   * Waits before the next attempt, after a failed one.
   * @throws EngineFailure if it has kept failing for longer than `timeoutMs`
   */
  async waitForRetry({ why, askedMs, timeoutMs }: RetryReason): Promise<void> {
    const { now, log, job, vendor, wait } = this.#task;
    if (this.#since === undefined) {
      this.#since = now();
      log('warn', 'A vendor does not answer as expected; retrying.', {
        task: job.id,
        vendor: new URL(vendor.baseUrl).host,
        reason: why,
      });
    }
    if (now() - this.#since > timeoutMs)
      throw new EngineFailure(`The vendor is not available: ${why}.`, { code: 'vendor_unavailable' });
    await wait(this.#pauses.next(askedMs));
  }
}

/** Each pause is longer than the one before, up to 15 times the first. */
const GROWTH = 1.5;
const MAX_GROWTH = 15;
/** Decided: a vendor that asks for a longer pause gets this one. */
const MAX_ASKED_MS = 60 * 60_000;

/**
 * The pauses between polls of one task, which grow and have jitter.
 * @param firstMs milliseconds
 */
class PollPauses {
  #polls = 0;

  constructor(
    readonly firstMs: number,
    readonly random?: () => number,
  ) {}

  /** @returns the next pause in milliseconds, at least as long as the vendor asked for */
  next(askedMs = 0): number {
    const { firstMs, random } = this;
    this.#polls += 1;
    const pause = backoffMs(this.#polls, {
      firstMs,
      maxMs: firstMs * MAX_GROWTH,
      factor: GROWTH,
      ...(random && { random }),
    });
    return Math.max(pause, Math.min(askedMs, MAX_ASKED_MS));
  }
}
