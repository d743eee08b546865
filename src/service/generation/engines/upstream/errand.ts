import type { Context } from '../../../context.js';
import { EngineFailure, type EngineJob, type EngineMemory } from '../../engine.js';
import type { TaskKind } from '../../operations.js';
import type { VendorCallbacks } from './callbacks.js';
import type { Kept } from './memory.js';
import { Pauses } from './pauses.js';
import type { VendorSettings } from './settings.js';
import type { Vendor } from './vendor.js';

/** What all tasks at one vendor share. */
export interface VendorParts {
  readonly settings: VendorSettings;
  readonly vendor: Vendor;
  readonly callbacks: VendorCallbacks;
  /** What is kept of another task, if it is of the same caller. */
  readonly keptOf: (taskId: string, job: EngineJob) => Promise<Kept>;
  readonly now: Context['now'];
  readonly log: Context['log'];
}

/** One task of this service that a vendor does. */
export interface Errand extends VendorParts {
  readonly kind: TaskKind;
  readonly job: EngineJob;
  readonly memory: EngineMemory;
  /** Aborted when the service ends. */
  readonly signal: AbortSignal;
  /** Waits so long, with signs of life. */
  readonly wait: (ms: number) => Promise<void>;
}

/** Why something has to be tried again. */
export interface Setback {
  readonly why: string;
  /** The vendor asks for this pause. Milliseconds. */
  readonly askedMs?: number | undefined;
  /** How long it may go on so. Milliseconds. */
  readonly patienceMs: number;
}

/** Tries one thing again and again, with growing pauses, while it has setbacks. */
export class Trying {
  readonly #pauses: Pauses;
  #since: number | undefined;

  constructor(private readonly errand: Errand) {
    this.#pauses = new Pauses(errand.settings.pollMs);
  }

  /** Waits for the next look, after one that told something. */
  async goOn(): Promise<void> {
    this.#since = undefined;
    await this.errand.wait(this.#pauses.next());
  }

  /**
   * Waits for the next try, after one that failed.
   * @throws EngineFailure where it has failed in a row for longer than there is patience
   */
  async outlive({ why, askedMs, patienceMs }: Setback): Promise<void> {
    const { now, log, job, vendor, wait } = this.errand;
    if (this.#since === undefined) {
      this.#since = now();
      log('warn', 'A vendor does not answer as it should; it is asked again.', {
        task: job.id,
        vendor: new URL(vendor.baseUrl).host,
        reason: why,
      });
    }
    if (now() - this.#since > patienceMs)
      throw new EngineFailure(`The vendor could not be worked with: ${why}.`, { code: 'vendor_unavailable' });
    await wait(this.#pauses.next(askedMs));
  }
}
