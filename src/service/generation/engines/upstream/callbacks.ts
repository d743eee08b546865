import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../../context.js';
import { vendorCallbackUrl } from '../../../http/signed-urls.js';
import { isLoopbackHost } from '../../addresses.js';

/** What a callback says beside the payload is short. Characters. */
const longestKept = 64 * 1024;

type Parts = Pick<Context, 'configuration' | 'database' | 'keys' | 'baseUrl'>;

/** Waits for a vendor to call about one task. */
export interface Ear {
  /**
   * Waits so long, or less where the vendor calls or has called since the last time.
   * @returns whether it has called
   */
  pause(ms: number, signal: AbortSignal): Promise<boolean>;
  end(): void;
}

/**
 * What vendors tell unasked. It is believed only where a vendor cannot be asked, since any call may be lost, late or out
 * of order; else it makes the service ask at once.
 */
export class VendorCallbacks {
  readonly #calls = new EventEmitter();

  constructor(private readonly parts: Parts) {}

  /** Where the vendor may call; undefined where it could not reach this service. */
  addressFor(taskId: string, vendorUrl: string): string | undefined {
    const { configuration, baseUrl } = this.parts;
    const isNear = [vendorUrl, baseUrl()].every((url) => isLoopbackHost(new URL(url).hostname));
    return configuration.publicUrl || isNear ? vendorCallbackUrl(this.parts, taskId) : undefined;
  }

  /** Takes in what a vendor said of a task. */
  async came(taskId: string, body: unknown): Promise<void> {
    const said = JSON.stringify(body, (name, value) => (name === 'payload' ? undefined : value)) ?? '';
    if (said.length <= longestKept) await this.#write(taskId, said);
    this.#calls.emit(taskId);
  }

  async #write(taskId: string, callback: string): Promise<void> {
    const { database } = this.parts;
    await database
      .transaction()
      .execute((tx) => tx.updateTable('tasks').set({ callback }).where('id', '=', taskId).execute());
  }

  /** The last that a vendor said of a task; undefined where it did not. */
  async read(taskId: string): Promise<unknown> {
    const task = await this.parts.database
      .selectFrom('tasks')
      .select('callback')
      .where('id', '=', taskId)
      .executeTakeFirst();
    return task?.callback ? JSON.parse(task.callback) : undefined;
  }

  listen(taskId: string): Ear {
    let call = new AbortController();
    const ring = () => call.abort();
    this.#calls.on(taskId, ring);
    return {
      pause: async (ms, signal) => {
        await sleep(ms, undefined, { signal: AbortSignal.any([signal, call.signal]) }).catch(() => {});
        signal.throwIfAborted();
        const { aborted: called } = call.signal;
        call = new AbortController();
        return called;
      },
      end: () => void this.#calls.off(taskId, ring),
    };
  }
}
