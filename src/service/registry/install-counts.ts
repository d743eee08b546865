import { toClientNetwork } from '../../wire/addresses.js';
import type { Context, Install } from '../operation/context.js';

/** How many installations of a day are remembered, so that they are not counted again. About 20 MB. */
const MAX_REMEMBERED = 100_000;
/** What is counted is written at most this often. */
const WRITE_INTERVAL_MS = 10_000;

type InstallCountsOptions = Pick<Context, 'database' | 'now' | 'log'>;

// Decided: an installation counts once per address, version and day. Counts are kept in memory and written in
// batches, because anyone may cause them; a service that is killed loses the counts of the last 10 s.
export class InstallCounts {
  readonly #options: InstallCountsOptions;
  /** Downloads by node id that are not written yet. */
  #counts = new Map<string, number>();
  readonly #remembered = new Set<string>();
  #day = '';
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: InstallCountsOptions) {
    this.#options = options;
  }

  count({ nodeId, versionId, address }: Install): void {
    const day = new Date(this.#options.now()).toISOString().slice(0, 10);
    if (day !== this.#day) this.#remembered.clear();
    this.#day = day;
    const install = `${versionId} ${toClientNetwork(address)}`;
    if (this.#remembered.has(install)) return;
    this.#remembered.add(install);
    if (this.#remembered.size > MAX_REMEMBERED) {
      // The oldest, because refusing to count new ones would let anyone stop all counting.
      const [oldest = ''] = this.#remembered;
      this.#remembered.delete(oldest);
    }
    this.#counts.set(nodeId, (this.#counts.get(nodeId) ?? 0) + 1);
    this.#timer ??= setTimeout(() => void this.write(), WRITE_INTERVAL_MS).unref();
  }

  /** Writes what was counted; a write that fails is logged, and tried again with the next one. */
  write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#writeCounts());
    return this.#writing;
  }

  async #writeCounts(): Promise<void> {
    const counts = this.#counts;
    if (counts.size === 0) return;
    this.#counts = new Map();
    const { database, log } = this.#options;
    try {
      await database.transaction().execute(async (tx) => {
        for (const [nodeId, count] of counts) {
          await tx
            .updateTable('nodes')
            .set((column) => ({ downloads: column('downloads', '+', count) }))
            .where('id', '=', nodeId)
            .execute();
        }
      });
    } catch (error) {
      for (const [nodeId, count] of counts) this.#counts.set(nodeId, (this.#counts.get(nodeId) ?? 0) + count);
      log('error', 'Downloads could not be counted; they are counted later.', { error: `${error}` });
    }
  }
}
