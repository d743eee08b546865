import { createHash, randomUUID } from 'node:crypto';
import {
  compileOnce,
  type Database,
  deleteRows,
  findRow,
  insertRow,
  type Tx,
  updateRows,
} from '../database/database.js';
import { isPostgres } from '../database/postgres.js';
import type { Context } from '../operation/context.js';
import { invalidField, Refused } from '../operation/refused.js';

// Decided: a key holds 1 to 255 printable characters and is kept for 7 days.
const KEY_PATTERN = /^[\x20-\x7e]{1,255}$/;
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** A request with an Idempotency-Key. Keys are scoped to caller and operation. */
export interface KeyedRequest {
  readonly caller: string;
  readonly operation: string;
  readonly key: string;
  /** SHA-256 of the path and the body's hash, hex. */
  readonly hash: string;
}

/** @throws Refused invalid_request */
export function requireKey(header: string | string[]): string {
  if (typeof header === 'string' && KEY_PATTERN.test(header)) return header;
  throw invalidField('Idempotency-Key', 'must be 1 to 255 printable ASCII characters');
}

export function hashRequest(path: string, bodyHash: Buffer | undefined): string {
  return createHash('sha256')
    .update(`${path}\n`)
    .update(bodyHash ?? '')
    .digest('hex');
}

/** Longer than a process that is alive keeps the database waiting. */
const RESERVED_MS = 20_000;

/** The requests with an Idempotency-Key that are running, in this process or another one on the same database. */
export class RunningKeys {
  readonly #keys = new Set<string>();
  readonly #context: Pick<Context, 'database' | 'now'>;

  constructor(context: Pick<Context, 'database' | 'now'>) {
    this.#context = context;
  }

  /** @throws Refused idempotency_in_flight */
  async run<Result>(request: KeyedRequest, work: () => Promise<Result>): Promise<Result> {
    const name = JSON.stringify([request.caller, request.operation, request.key]);
    if (this.#keys.has(name)) throw inFlight();
    this.#keys.add(name);
    try {
      return await (isPostgres(this.#context.database) ? this.#runReserved(request, work) : work());
    } finally {
      this.#keys.delete(name);
    }
  }

  /** Keeps a row while the request runs, so that slow preparation is not done twice. */
  async #runReserved<Result>(
    { caller, operation, key }: KeyedRequest,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { database, now } = this.#context;
    const holder = randomUUID();
    const reserve = () => ({ holder, until: new Date(now() + RESERVED_MS).toISOString() });
    const { numInsertedOrUpdatedRows } = await database
      .insertInto('running_keys')
      .values({ caller, operation, key, ...reserve() })
      .onConflict((conflict) =>
        conflict
          .columns(['caller', 'operation', 'key'])
          .doUpdateSet(reserve())
          .where('running_keys.until', '<', new Date(now()).toISOString()),
      )
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows === 0n) throw inFlight();
    const own = { caller, operation, key, holder };
    // If the database is away, nothing of this request is written either.
    const ignore = () => {};
    const renew = () => updateRows(database, 'running_keys', own, reserve());
    const renewing = setInterval(() => void renew().catch(ignore), RESERVED_MS / 3);
    try {
      return await work();
    } finally {
      clearInterval(renewing);
      await deleteRows(database, 'running_keys', own).catch(ignore);
    }
  }
}

function inFlight(): Refused {
  return new Refused(
    'idempotency_in_flight',
    'A request with this Idempotency-Key is still in progress; wait for its answer.',
  );
}

/**
 * Finds the answer that this request was given before.
 * @returns undefined if the request is new
 * @throws Refused idempotency_mismatch if the key was used for a different request
 */
export async function findStoredAnswer(
  database: Database,
  now: Context['now'],
  { hash, ...match }: KeyedRequest,
): Promise<unknown> {
  const row = await findRow(database, 'idempotency', match);
  if (!row || row.created_at <= getOldestTime(now)) return undefined;
  if (row.request_hash === hash) return JSON.parse(row.body);
  throw new Refused(
    'idempotency_mismatch',
    'This Idempotency-Key was already used for a different request; use a new key.',
  );
}

const removeOld = compileOnce((database, oldest: string) =>
  database.deleteFrom('idempotency').where('created_at', '<=', oldest),
);

function getOldestTime(now: Context['now']): string {
  return new Date(now() - KEPT_MS).toISOString();
}

// Decided: only successes are stored, with the change; a refused request can be fixed and sent again.
export async function storeAnswer(
  tx: Tx,
  now: Context['now'],
  { hash, ...match }: KeyedRequest,
  status: number,
  answer: unknown,
): Promise<void> {
  await removeOld(tx, getOldestTime(now));
  await insertRow(tx, 'idempotency', {
    ...match,
    request_hash: hash,
    status,
    // A success without a body is stored as null.
    body: JSON.stringify(answer ?? null),
    created_at: new Date(now()).toISOString(),
  });
}
