import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopbackHost } from '../../../contract/schema/loopback.js';
import type { Context } from '../../operation/context.js';
import { createCallbackUrl } from '../../operation/signed-urls.js';

/** A callback without its payload is shorter than this. */
const MAX_CALLBACK_CHARACTERS = 64 * 1024;

type VendorCallbacksOptions = Pick<Context, 'configuration' | 'database' | 'keys' | 'baseUrl'>;

/** Waits for a vendor to call about one task. */
export interface CallbackListener {
  /**
   * Waits for `ms`, or until the vendor calls; not at all if it has called since the last wait.
   * @returns whether it has called
   */
  wait(ms: number, signal: AbortSignal): Promise<boolean>;
  stop(): void;
}

/**
 * The callbacks of vendors. Their content is used only if the status of a task cannot be read, because calls
 * may be lost, late or out of order; otherwise a call makes the service poll at once.
 */
export class VendorCallbacks {
  readonly #calls = new EventEmitter();
  readonly #options: VendorCallbacksOptions;

  constructor(options: VendorCallbacksOptions) {
    this.#options = options;
  }

  /** @returns where the vendor can call; undefined if it cannot reach this service */
  getUrl(taskId: string, vendorUrl: string): string | undefined {
    const { configuration, baseUrl } = this.#options;
    const isLocal = [vendorUrl, baseUrl()].every((url) => isLoopbackHost(new URL(url).hostname));
    return configuration.publicUrl || isLocal ? createCallbackUrl(this.#options, taskId) : undefined;
  }

  /** Stores the callback of a task and wakes its listener. */
  async receive(taskId: string, body: unknown): Promise<void> {
    const callback = JSON.stringify(body, (name, value) => (name === 'payload' ? undefined : value)) ?? '';
    if (callback.length <= MAX_CALLBACK_CHARACTERS) await this.#write(taskId, callback);
    this.#calls.emit(taskId);
  }

  async #write(taskId: string, callback: string): Promise<void> {
    const { database } = this.#options;
    await database
      .transaction()
      .execute((tx) => tx.updateTable('tasks').set({ callback }).where('id', '=', taskId).execute());
  }

  /** @returns the last callback of a task; undefined if there was none */
  async readLast(taskId: string): Promise<unknown> {
    const task = await this.#options.database
      .selectFrom('tasks')
      .select('callback')
      .where('id', '=', taskId)
      .executeTakeFirst();
    return task?.callback ? JSON.parse(task.callback) : undefined;
  }

  listen(taskId: string): CallbackListener {
    let call = new AbortController();
    const notify = () => call.abort();
    this.#calls.on(taskId, notify);
    return {
      wait: async (ms, signal) => {
        await sleep(ms, undefined, { signal: AbortSignal.any([signal, call.signal]) }).catch(() => {});
        signal.throwIfAborted();
        const { aborted: called } = call.signal;
        call = new AbortController();
        return called;
      },
      stop: () => void this.#calls.off(taskId, notify),
    };
  }
}
