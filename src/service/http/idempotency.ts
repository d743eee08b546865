import { createHash } from 'node:crypto';
import type { Database, Tx } from '../database/database.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';

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
  const message = 'must be 1 to 255 printable ASCII characters';
  throw new Refused('invalid_request', `Idempotency-Key ${message}.`, [{ path: 'Idempotency-Key', message }]);
}

export function hashRequest(path: string, bodyHash: Buffer | undefined): string {
  return createHash('sha256')
    .update(`${path}\n`)
    .update(bodyHash ?? '')
    .digest('hex');
}

/** The requests with an Idempotency-Key that are running in this process. */
export class RunningKeys {
  readonly #keys = new Set<string>();

  /** @throws Refused idempotency_in_flight */
  async run<Result>({ caller, operation, key }: KeyedRequest, work: () => Promise<Result>): Promise<Result> {
    const name = JSON.stringify([caller, operation, key]);
    if (this.#keys.has(name)) {
      throw new Refused(
        'idempotency_in_flight',
        'A request with this Idempotency-Key is still in progress; wait for its answer.',
      );
    }
    this.#keys.add(name);
    try {
      return await work();
    } finally {
      this.#keys.delete(name);
    }
  }
}

/**
 * Finds the answer that this request was given before.
 * @returns undefined if the request is new
 * @throws Refused idempotency_mismatch if the key was used for a different request
 */
export async function findStoredAnswer(
  database: Database,
  now: Context['now'],
  request: KeyedRequest,
): Promise<unknown> {
  const row = await database
    .selectFrom('idempotency')
    .select(['request_hash', 'body'])
    .where('caller', '=', request.caller)
    .where('operation', '=', request.operation)
    .where('key', '=', request.key)
    .where('created_at', '>', getOldestTime(now))
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.request_hash === request.hash) return JSON.parse(row.body);
  throw new Refused(
    'idempotency_mismatch',
    'This Idempotency-Key was already used for a different request; use a new key.',
  );
}

function getOldestTime(now: Context['now']): string {
  return new Date(now() - KEPT_MS).toISOString();
}

// Decided: only successes are stored, with the change; a refused request can be fixed and sent again.
export async function storeAnswer(
  tx: Tx,
  now: Context['now'],
  request: KeyedRequest,
  status: number,
  answer: unknown,
): Promise<void> {
  await tx.deleteFrom('idempotency').where('created_at', '<=', getOldestTime(now)).execute();
  await tx
    .insertInto('idempotency')
    .values({
      caller: request.caller,
      operation: request.operation,
      key: request.key,
      request_hash: request.hash,
      status,
      // A success without a body is stored as null.
      body: JSON.stringify(answer ?? null),
      created_at: new Date(now()).toISOString(),
    })
    .execute();
}
