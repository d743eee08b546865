import { isLoopbackHost } from '../../../contract/schema/loopback.js';
import { findRow, updateRows } from '../../database/database.js';
import type { Context } from '../../operation/context.js';
import { getJobKinds } from '../../operation/engine.js';
import { createTaskUrl } from '../../operation/signed-urls.js';

/** A callback without its payload is shorter than this. */
const MAX_CALLBACK_CHARACTERS = 64 * 1024;

type VendorCallbacksOptions = Pick<
  Context,
  'configuration' | 'database' | 'queue' | 'keys' | 'now' | 'baseUrl'
>;

/**
 * The callbacks of vendors. Their content is used only if the status of a task cannot be read, because calls
 * may be lost, late or out of order; otherwise a call makes the service poll at once.
 */
export class VendorCallbacks {
  readonly #options: VendorCallbacksOptions;

  constructor(options: VendorCallbacksOptions) {
    this.#options = options;
  }

  /** @returns where the vendor can call; undefined if it cannot reach this service */
  getUrl(taskId: string, vendorUrl: string): string | undefined {
    return this.isReachable(vendorUrl) ? createTaskUrl(this.#options, 'vendor-callback', taskId) : undefined;
  }

  /** Where the vendor can fetch an image of a task, if it can reach this service. */
  getInputUrl(taskId: string, name: string): string {
    return createTaskUrl(this.#options, 'input', taskId, name);
  }

  isReachable(vendorUrl: string): boolean {
    const { configuration, baseUrl } = this.#options;
    const isLocal = [vendorUrl, baseUrl()].every((url) => isLoopbackHost(new URL(url).hostname));
    return configuration.publicUrl !== undefined || isLocal;
  }

  /** Stores the callback of a task, and looks at the task at once. */
  async receive(taskId: string, body: unknown): Promise<void> {
    const text = JSON.stringify(body, (name, value) => (name === 'payload' ? undefined : value)) ?? '';
    const { database, queue, configuration } = this.#options;
    await database.transaction().execute(async (tx) => {
      const found = await findRow(tx, 'tasks', { id: taskId });
      if (!found) return;
      const callback = text.length <= MAX_CALLBACK_CHARACTERS ? text : found.callback;
      await updateRows(tx, 'tasks', { id: taskId }, { callback });
      await queue.bringForward(tx, { kind: getJobKinds(configuration, found.operation).watch, key: taskId });
    });
  }

  /** @returns the last callback of a task; undefined if there was none */
  async readLast(taskId: string): Promise<unknown> {
    const task = await findRow(this.#options.database, 'tasks', { id: taskId });
    return task?.callback ? JSON.parse(task.callback) : undefined;
  }
}
