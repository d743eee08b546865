import { createHash } from 'node:crypto';
import type { Context, Database, Tx } from '../context.js';
import { Refused } from '../refused.js';

// Decided: a key holds 1 to 255 printable characters and is kept for 7 days.
const form = /^[\x20-\x7e]{1,255}$/;
const keptMs = 7 * 24 * 60 * 60 * 1000;

/** Which request a key stands for: keys are scoped to caller and operation. */
export interface KeyedRequest {
  readonly caller: string;
  readonly operation: string;
  readonly key: string;
  /** SHA-256 of path and body's hash, hex. */
  readonly hash: string;
}

/** @throws Refused invalid_request */
export function requireKey(header: string | string[]): string {
  if (typeof header === 'string' && form.test(header)) return header;
  const message = 'must be 1 to 255 printable ASCII characters';
  throw new Refused('invalid_request', `Idempotency-Key ${message}.`, [{ path: 'Idempotency-Key', message }]);
}

export function hashOf(path: string, bodyHash: Buffer | undefined): string {
  return createHash('sha256')
    .update(`${path}\n`)
    .update(bodyHash ?? '')
    .digest('hex');
}

/** The keyed requests that are running in this process. */
export class RunningKeys {
  readonly #keys = new Set<string>();

  /** @throws Refused idempotency_in_flight */
  async during<Result>(
    { caller, operation, key }: KeyedRequest,
    run: () => Promise<Result>,
  ): Promise<Result> {
    const name = JSON.stringify([caller, operation, key]);
    if (this.#keys.has(name)) {
      throw new Refused(
        'idempotency_in_flight',
        'A request with this Idempotency-Key is still running; wait for its answer.',
      );
    }
    this.#keys.add(name);
    try {
      return await run();
    } finally {
      this.#keys.delete(name);
    }
  }
}

/**
 * The answer that this request was given before.
 * @returns undefined where it is new
 * @throws Refused idempotency_mismatch where the key was used for another request
 */
export async function storedAnswer(
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
    .where('created_at', '>', oldest(now))
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.request_hash === request.hash) return JSON.parse(row.body);
  throw new Refused(
    'idempotency_mismatch',
    'This Idempotency-Key was used before with another request; take a new one.',
  );
}

function oldest(now: Context['now']): string {
  return new Date(now() - keptMs).toISOString();
}

// Decided: only successes are stored, in the transaction that made them true; a refused request may be mended and sent again.
export async function storeAnswer(
  tx: Tx,
  now: Context['now'],
  request: KeyedRequest,
  status: number,
  answer: unknown,
): Promise<void> {
  await tx.deleteFrom('idempotency').where('created_at', '<=', oldest(now)).execute();
  await tx
    .insertInto('idempotency')
    .values({
      caller: request.caller,
      operation: request.operation,
      key: request.key,
      request_hash: request.hash,
      status,
      // A success without a body is kept as null.
      body: JSON.stringify(answer ?? null),
      created_at: new Date(now()).toISOString(),
    })
    .execute();
}
