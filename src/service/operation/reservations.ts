import { randomUUID } from 'node:crypto';
import { toIsoTime } from '../database/clock.js';
import {
  compileOnce,
  type Database,
  deleteRows,
  insertRow,
  type Tx,
  updateRows,
} from '../database/database.js';
import type { ReservationTable } from '../database/schema.js';

/** How long the reservations of a service that was killed count. */
const RESERVED_MS = 60_000;

type Quota = ReservationTable['quota']['__select__'];

/** What a user or publisher is about to begin. */
export interface NewReservation {
  readonly owner: string;
  readonly quota: Quota;
  readonly amount: number;
}

/**
 * Records what users have begun, from its first byte, so that all services of a database count it for their quotas before it
 * becomes a task or an archive.
 */
export class Reservations {
  readonly #held = new Set<string>();
  readonly #database: Database;
  readonly #now: () => number;
  #renewing: NodeJS.Timeout | undefined;

  constructor({ database, now }: { readonly database: Database; readonly now: () => number }) {
    this.#database = database;
    this.#now = now;
  }

  /** Adds a reservation. Its quota must have been checked in the same transaction. @returns its id */
  async add(tx: Tx, reservation: NewReservation): Promise<string> {
    const id = randomUUID();
    await removeLapsed(tx, reservation.owner, toIsoTime(this.#now()));
    await insertRow(tx, 'reservations', { id, ...reservation, until: this.#getEnd() });
    return id;
  }

  /** Keeps a reservation that was committed, as long as this process lasts. */
  keep(id: string): void {
    this.#held.add(id);
    this.#renewing ??= setInterval(() => void this.#renew(), RESERVED_MS / 3).unref();
  }

  /** Removes it, together with what the transaction puts in its place. */
  async end(tx: Tx, id: string): Promise<void> {
    await deleteRows(tx, 'reservations', { id });
  }

  /** Forgets one that was ended, or lets it lapse. */
  forget(id: string): void {
    this.#held.delete(id);
    if (this.#held.size > 0) return;
    clearInterval(this.#renewing);
    this.#renewing = undefined;
  }

  /** Removes one whose work came to nothing. If the database is away, it lapses. */
  async cancel(id: string): Promise<void> {
    this.forget(id);
    await this.#write((tx) => deleteRows(tx, 'reservations', { id })).catch(() => {});
  }

  async removeAll(): Promise<void> {
    await this.#write((tx) => deleteRows(tx, 'reservations', {}));
  }

  /** How much of a quota is reserved. */
  async sum(database: Database, owner: string, quota: Quota): Promise<number> {
    const [row] = await sumAmounts(database, owner, quota, toIsoTime(this.#now()));
    return Number(row?.amount ?? 0);
  }

  async #renew(): Promise<void> {
    const id = [...this.#held];
    const until = this.#getEnd();
    await this.#write((tx) => updateRows(tx, 'reservations', { id }, { until })).catch(() => {});
  }

  #write(work: (tx: Tx) => Promise<unknown>): Promise<unknown> {
    return this.#database.transaction().execute(work);
  }

  #getEnd(): string {
    return toIsoTime(this.#now() + RESERVED_MS);
  }
}

const sumAmounts = compileOnce((database, owner: string, quota: Quota, now: string) =>
  database
    .selectFrom('reservations')
    .select(({ fn }) => fn.sum<number | null>('amount').as('amount'))
    .where('owner', '=', owner)
    .where('quota', '=', quota)
    .where('until', '>', now),
);

const removeLapsed = compileOnce((tx, owner: string, now: string) =>
  tx.deleteFrom('reservations').where('owner', '=', owner).where('until', '<=', now),
);
