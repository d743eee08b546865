import { randomUUID } from 'node:crypto';
import { compileOnce, insertRow } from '../../database/database.js';
import type { Context } from '../../operation/context.js';

/** A minute, and what the way to the vendor takes. */
const WINDOW_MS = 61_000;

/** The share of a vendor's requests that are looks. Starts are requests, too. */
export const LOOKS_SHARE = 0.6;

/** Takes a request that a vendor allows. @returns how long to wait if none is left, in milliseconds */
export type TakeRequest = (isLook: boolean) => Promise<number>;

interface Window extends Pick<Context, 'database' | 'now'> {
  readonly vendor: string;
  /** Undefined if the vendor allows any number. */
  readonly perMinute: number | undefined;
}

/**
 * Counts the requests of all services of a database to a vendor that allows some per minute; looks leave some for starts.
 * Those that are rare, such as cancels, are not counted.
 */
export function createRequestWindow({ database, now, vendor, perMinute }: Window): TakeRequest {
  if (perMinute === undefined) return async () => 0;
  const owner = `vendor ${vendor}`;
  const mostLooks = Math.ceil(perMinute * LOOKS_SHARE);
  return (isLook) =>
    database.transaction().execute(async (tx) => {
      const [at, time] = [now(), new Date(now()).toISOString()];
      await removeOver(tx, owner, time);
      const taken = await listTaken(tx, owner);
      const looks = taken.filter(({ quota }) => quota === 'vendorLooks');
      const isOverLooked = isLook && looks.length >= mostLooks;
      const [first] = isOverLooked ? looks : taken;
      if (first && (isOverLooked || taken.length >= perMinute)) return Date.parse(first.until) - at;
      const until = new Date(at + WINDOW_MS).toISOString();
      const quota = isLook ? 'vendorLooks' : 'vendorStarts';
      await insertRow(tx, 'reservations', { id: randomUUID(), owner, quota, amount: 1, until });
      return 0;
    });
}

const listTaken = compileOnce((tx, owner: string) =>
  tx.selectFrom('reservations').select(['quota', 'until']).where('owner', '=', owner).orderBy('until'),
);

const removeOver = compileOnce((tx, owner: string, time: string) =>
  tx.deleteFrom('reservations').where('owner', '=', owner).where('until', '<=', time),
);
