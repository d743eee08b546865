import { statfs } from 'node:fs/promises';
import { StorageMissing } from '../storage/storage.js';
import { OWNER_ID } from './caller.js';
import { Refused } from './refused.js';

export interface DiskSpaceOptions {
  /** A folder on the disk. */
  readonly folder: string;
  /** What stays free. */
  readonly minFreeBytes: number;
  /** Finds the free bytes of the disk. */
  readonly measure?: (folder: string) => Promise<number>;
}

/** Space that is kept for what someone has begun to store. */
export interface ReservedSpace {
  /** Reserves more. @throws Refused unavailable */
  grow(bytes: number): Promise<void>;
  /** Counts bytes that were stored since: they are no longer free. */
  use(bytes: number): void;
  release(): void;
}

interface Share {
  readonly owner: string;
  reserved: number;
  used: number;
}

/**
 * Shares out the free disk among those who store files, so that what they have begun leaves `minFreeDiskBytes`, and one user
 * leaves half of the rest to others.
 */
export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  readonly #shares = new Set<Share>();

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  /** @throws Refused unavailable if the disk is almost full; StorageMissing */
  async requireFree(): Promise<void> {
    if ((await this.#measureFree()) < 0) throw full('The disk of the service is almost full.');
  }

  /**
   * Begins a reservation for a user, or for anonymous requests. It may begin empty, and then needs no free disk.
   * @throws Refused unavailable; StorageMissing
   */
  async reserve(owner: string, bytes = 0): Promise<ReservedSpace> {
    const share = { owner, reserved: 0, used: 0 };
    this.#shares.add(share);
    const release = () => void this.#shares.delete(share);
    try {
      if (bytes > 0) await this.#grow(share, bytes);
    } catch (error) {
      release();
      throw error;
    }
    return {
      grow: (more) => this.#grow(share, more),
      use: (stored) => {
        share.used = Math.min(share.reserved, share.used + stored);
      },
      release,
    };
  }

  async #grow(share: Share, bytes: number): Promise<void> {
    // Before the disk is asked: what is stored in the meantime counts twice, and not as free.
    const used = sum(this.#shares, 'used');
    const all = (await this.#measureFree()) + used;
    // From here on nothing else runs until it is reserved.
    const own = sum(
      [...this.#shares].filter(({ owner }) => owner === share.owner),
      'reserved',
    );
    const others = sum(this.#shares, 'reserved') - own;
    if (all < own + others + bytes) throw full('The disk of the service is almost full.');
    const isOperator = share.owner === OWNER_ID;
    if (!isOperator && own + bytes > (all - others) / 2)
      throw full('What you are sending takes too much of the free disk of the service; try again later.');
    share.reserved += bytes;
  }

  /** @returns bytes above the minimum; below 0 if there are fewer */
  async #measureFree(): Promise<number> {
    const { folder, minFreeBytes, measure = measureDisk } = this.#options;
    return (await measure(folder)) - minFreeBytes;
  }
}

async function measureDisk(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder).catch((error) => {
    throw error.code === 'ENOENT' ? new StorageMissing(`${folder} is missing.`) : error;
  });
  return bavail * bsize;
}

function sum(shares: Iterable<Share>, what: 'reserved' | 'used'): number {
  let total = 0;
  for (const share of shares) total += share[what];
  return total;
}

function full(message: string): Refused {
  return new Refused('unavailable', message);
}
