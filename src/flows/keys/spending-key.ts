import type { Client } from '../../client/client.js';
import { ServiceError } from '../../client/errors.js';
import { listTaskOperations, type TaskOperation } from '../../contract/index.js';
import { FlowError } from '../flow-error.js';
import { keepRenewed } from './keep-renewed.js';

export interface KeyLimits {
  /** What the key is called in usage. */
  readonly name: string;
  /** What its tasks may cost in all. */
  readonly credits: number;
  /** The operations that it may start, such as `image.relight` or `video.*`; absent: all. */
  readonly operations?: readonly string[] | undefined;
  /** When it ends even if it is not revoked, counted from now; absent: it is extended until then. */
  readonly lifetimeMs?: number | undefined;
}

interface SpendingKeyOptions {
  /** Calls with the credential of a person. */
  readonly client: Client;
  readonly limits: KeyLimits;
  /** Called when it cannot be extended; that is tried again until it ends. */
  onFailure(error: unknown, expiresAt: string): Promise<void>;
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/** What the tasks of a key cost, as `usage` has it, and which of them go on. */
export interface Bill {
  readonly tasks: number;
  readonly charged: number;
  readonly refunded: number;
  /** Charged and not refunded. */
  readonly credits: number;
  readonly unfinished: readonly UnfinishedTask[];
}

interface UnfinishedTask {
  readonly task_id: string;
  readonly operation: string;
  readonly status: string;
  readonly credits: number;
}

export interface SpendingKey {
  readonly id: string;
  /** The secret. */
  readonly token: string;
  /** ISO 8601; later after each extension. */
  readonly expiresAt: string;
  /** Ends the key: nothing is charged to it any more. Its tasks go on. */
  revoke(): Promise<void>;
  readBill(): Promise<Bill>;
}

/** A program that is killed cannot revoke its key, which then ends within this time. */
const VALID_SECONDS = 60 * 60;
// Decided: a key is extended every 8 minutes: the embedded service, which ends after 10 minutes without a request, stays.
const EXTENSION_INTERVAL_MS = 8 * 60_000;

/**
 * Creates an API key that can spend a number of credits, and extends it until it is revoked.
 * @throws FlowError usage for operations that do not exist; not_limited
 */
export async function openSpendingKey(options: SpendingKeyOptions): Promise<SpendingKey> {
  const { client, limits, now, signal } = options;
  const { credits, lifetimeMs = Number.POSITIVE_INFINITY } = limits;
  const endsAt = now() + lifetimeMs;
  // Once it ends when it should, there is nothing to extend.
  const chooseNext = (seconds: number) =>
    seconds < VALID_SECONDS ? Number.POSITIVE_INFINITY : now() + EXTENSION_INTERVAL_MS;
  const body = toKeyRequest(limits);
  const key = await client.key.create({ body }, { signal });
  const { id: keyId, token, created_at } = key;
  let { expires_at: expiresAt } = key;
  const revoke = async () => {
    await client.key.revoke({ keyId }).catch((error) => {
      if (!(error instanceof ServiceError) || error.status !== 404) throw error;
    });
  };
  if (key.total?.credits !== credits) {
    await revoke();
    throw new FlowError('not_limited', 'The service does not support API keys with a total limit.');
  }
  const renewal = keepRenewed({
    firstAt: chooseNext(body.expires_in),
    renew: async (signal) => {
      if (endsAt <= now()) return Number.POSITIVE_INFINITY;
      const expires_in = chooseSeconds(endsAt - now());
      ({ expires_at: expiresAt } = await client.key.update({ keyId, body: { expires_in } }, { signal }));
      return chooseNext(expires_in);
    },
    onFailure: (error) => options.onFailure(error, expiresAt),
    ...{ now, sleep: options.sleep },
  });
  return {
    id: keyId,
    token,
    get expiresAt() {
      return expiresAt;
    },
    async revoke() {
      await renewal.end();
      await revoke();
    },
    readBill: () => readBill(client, keyId, created_at),
  };
}

/** The request that creates a key. @throws FlowError usage for operations that do not exist */
export function toKeyRequest({ name, credits, operations, lifetimeMs }: KeyLimits) {
  const expires_in = chooseSeconds(lifetimeMs);
  return { name, credits, expires_in, ...(operations && { operations: selectOperations(operations) }) };
}

/** How long a key is valid from now on, if it ends for good after `leftMs`. */
function chooseSeconds(leftMs = Number.POSITIVE_INFINITY): number {
  return Math.max(Math.min(VALID_SECONDS, Math.ceil(leftMs / 1000)), 1);
}

/** @throws FlowError usage */
function selectOperations(patterns: readonly string[]): TaskOperation[] {
  const all = listTaskOperations();
  const fits = (name: string, pattern: string) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  const unknown = patterns.find((pattern) => !all.some((name) => fits(name, pattern)));
  if (unknown !== undefined)
    throw new FlowError('usage', `'${unknown}' is not an operation that starts a task: ${all.join(', ')}.`);
  return all.filter((name) => patterns.some((pattern) => fits(name, pattern)));
}

/** Reads what the tasks of a key of the caller cost so far. */
async function readBill(client: Client, key_id: string, createdAt: string): Promise<Bill> {
  const unfinished: UnfinishedTask[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const listed = await client.task.list({ key_id, state: 'unfinished', page, limit: 100 });
    unfinished.push(...listed.tasks);
    pages = listed.totalPages;
  }
  const { rows } = await client.user.usage({ by: ['key'], from: createdAt.slice(0, 10) });
  const row = rows.find((one) => one.key_id === key_id);
  const { tasks = 0, charged = 0, refunded = 0, credits = 0 } = row ?? {};
  return {
    ...{ tasks, charged, refunded, credits },
    unfinished: unfinished.map(({ task_id, operation, status, credits }) => ({
      ...{ task_id, operation, status, credits },
    })),
  };
}
