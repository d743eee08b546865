import type { TaskKind } from '../../../contract/operation.js';
import type { VendorSettings } from '../../configuration/generation-settings.js';
import type { Context } from '../../operation/context.js';
import { EngineFailure, type EngineJob, type EngineMemory, type EngineWait } from '../../operation/engine.js';
import type { ResultLimits } from '../remote/download-results.js';
import { getLongestPauseMs, getPauseMs, MIN_FAILURES } from '../remote/pauses.js';
import type { EngineTroubles } from '../remote/troubles.js';
import type { VendorCallbacks } from './callbacks.js';
import type { TakeRequest } from './request-window.js';
import { saveState, type UpstreamState } from './state.js';
import type { Vendor } from './vendor.js';

/** What all tasks at one vendor share. */
export interface UpstreamOptions {
  readonly limits: ResultLimits;
  readonly settings: VendorSettings;
  readonly vendor: Vendor;
  readonly callbacks: VendorCallbacks;
  readonly takeRequest: TakeRequest;
  readonly troubles: EngineTroubles;
  /** Reads the state of another task, if it has the same creator. */
  readonly readState: (taskId: string, job: EngineJob) => Promise<UpstreamState>;
  readonly now: Context['now'];
  readonly log: Context['log'];
  readonly count: Context['count'];
}

/** One attempt at a task of this service that a vendor runs. */
export interface UpstreamTask extends UpstreamOptions {
  readonly kind: TaskKind;
  readonly job: EngineJob;
  readonly memory: EngineMemory;
  readonly progress: () => void;
  /** Aborted when the service stops. */
  readonly signal: AbortSignal;
}

/** Why a step failed and for how long it is retried. */
export interface RetryReason {
  readonly why: string;
  /** The pause that the vendor asked for. Milliseconds. */
  readonly askedMs?: number | undefined;
  /** How long the step may keep failing. Milliseconds. */
  readonly timeoutMs: number;
}

/** Waits before the next look at a task, after one that succeeded. */
export async function waitForLook(task: UpstreamTask, state: UpstreamState): Promise<EngineWait> {
  const { failingSince, failures: _, startedAt = task.now(), ...rest } = state;
  if (failingSince !== undefined || state.startedAt === undefined)
    await saveState(task.memory, { ...rest, startedAt });
  const pauseMs = getPauseMs(task.settings.pollMs, task.now() - startedAt);
  const { vendor, settings } = task;
  const waitMs = vendor.callsBack ? Math.max(pauseMs, settings.pollMs * CALLING_GROWTH) : pauseMs;
  return { waitMs, isStarted: true };
}

/**
 * Waits before the next attempt, after a failed one.
 * @throws EngineFailure if it has kept failing for longer than `timeoutMs`, and not only because this machine slept
 */
export async function waitForRetry(
  task: UpstreamTask,
  state: UpstreamState,
  { why, askedMs = 0, timeoutMs }: RetryReason,
): Promise<EngineWait> {
  const { now, log, count, job, vendor, memory, troubles } = task;
  const { host } = new URL(vendor.baseUrl);
  const longestMs = Math.max(getLongestPauseMs(task.settings.pollMs), Math.min(askedMs, MAX_ASKED_MS));
  troubles.begin(vendor, 'silence', why, now(), longestMs);
  count('vendor_errors', { vendor: host, outcome: 'retried' });
  const failingSince = state.failingSince ?? now();
  const failures = (state.failures ?? 0) + 1;
  await saveState(memory, { ...state, failingSince, failures });
  if (state.failingSince === undefined) {
    const message = `The vendor at ${vendor.baseUrl} does not answer as expected: ${why}. The task waits.`;
    log('warn', message, { task: job.id, vendor: host, reason: why });
  }
  const failingMs = now() - failingSince;
  if (failingMs > timeoutMs && failures >= MIN_FAILURES)
    throw new EngineFailure(`The vendor is not available: ${why}.`, {
      code: 'vendor_unavailable',
      mayBeCharged: true,
    });
  const waitMs = Math.max(getPauseMs(task.settings.pollMs, failingMs), Math.min(askedMs, MAX_ASKED_MS));
  return { waitMs, isStarted: state.taskId !== undefined };
}

/** Decided: a vendor whose callbacks arrive is asked for a task only after 30 times the first pause: a minute. */
const CALLING_GROWTH = 30;
/** Decided: a vendor that asks for a longer pause gets this one. */
const MAX_ASKED_MS = 60 * 60_000;
