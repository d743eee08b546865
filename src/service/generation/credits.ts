import type { z } from 'zod';
import { getTaskFacts, type TaskOperation } from '../../contract/index.js';
import type { Budget as BudgetSchema, TotalBudget } from '../../contract/usage.js';
import {
  type Database,
  findRow,
  findRows,
  getRow,
  insertRow,
  type Row,
  type Tx,
  updateRows,
} from '../database/database.js';
import { OWNER_ID } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';

export function getPrice(
  { configuration }: Pick<Context, 'configuration'>,
  operation: TaskOperation,
  request: Readonly<Record<string, unknown>>,
): number {
  const credits = getTaskFacts(operation).price(configuration.prices, request);
  if (credits === undefined) throw new Error(`The configuration has no price for this ${operation}.`);
  return credits;
}

interface Charge extends Spending {
  readonly taskId: string;
  readonly operation: TaskOperation;
  /** Of a video. */
  readonly model: string | undefined;
}

// Decided: the price is fixed when a task is created.
/**
 * Charges the price of a new task.
 * @throws Refused quota_exceeded if that is more than what is left of a budget
 */
export async function chargeCredits(
  tx: Tx,
  context: Pick<Context, 'configuration' | 'now'>,
  charge: Charge,
): Promise<void> {
  if (charge.keyId !== undefined) await requireValidKey(tx, context, charge.keyId);
  await requireBudget(tx, context, charge);
  const at = new Date(context.now()).toISOString();
  await insertRow(tx, 'credits', {
    task_id: charge.taskId,
    kind: 'charge',
    user_id: charge.userId,
    amount: charge.amount,
    at,
    month: toMonth(context.now()),
    operation: charge.operation,
    model: charge.model ?? null,
    key_id: charge.keyId ?? null,
    vendor_credits: null,
  });
}

/**
 * Refuses a key that was revoked or expired while inputs were fetched: nothing is charged to it after its revocation.
 * Writing to its row makes other starts with it, and its revocation, wait for this one.
 */
async function requireValidKey(tx: Tx, { now }: Pick<Context, 'now'>, id: string): Promise<void> {
  const last_used_at = new Date(now()).toISOString();
  const isCurrent = (await updateRows(tx, 'api_keys', { id, revoked_at: null }, { last_used_at })) > 0;
  if (isCurrent && (await getRow(tx, 'api_keys', { id })).expires_at > last_used_at) return;
  throw new Refused('unauthenticated', 'The API key is expired or revoked.');
}

/** Why a task failed: its user cancelled it, its maker said so, or the service gave it up. */
export type FailureCause = 'user' | 'maker' | 'service';

// Decided: a cancelled task is refunded if its maker was not asked to begin: no vendor was, or for an engine of this
// machine, previews included, it did not run yet. A task that failed is refunded. But what a vendor may have charged
// stays in the budgets, so that no sequence of starts, cancels and crashes makes vendors begin more than they allow.
/** Gives back the price of a task that failed. */
export async function settleCredits(
  tx: Tx,
  taskId: string,
  { cause, isAsked, now }: { readonly cause: FailureCause; readonly isAsked: boolean; readonly now: number },
): Promise<void> {
  if (cause === 'user' && isAsked) return;
  const paid = await getRow(tx, 'credits', { task_id: taskId, kind: 'charge' });
  const kind = cause === 'service' && isAsked ? 'waiver' : 'refund';
  const vendor_credits = paid.vendor_credits === null ? null : 0;
  // Vendors do not charge for what they did not make.
  if (kind === 'refund' && vendor_credits !== null) await recordVendorCredits(tx, taskId, 0);
  await insertRow(tx, 'credits', { ...paid, kind, at: new Date(now).toISOString(), vendor_credits });
}

/** Records what the vendor of a task charges for it, in its own credits. */
export async function recordVendorCredits(tx: Tx, taskId: string, vendor_credits: number): Promise<void> {
  await updateRows(tx, 'credits', { task_id: taskId, kind: 'charge' }, { vendor_credits });
}

/** The credits that a task has cost: 0 if they were given back, unless `isBeforeRefund`. */
export async function sumCredits(
  database: Database,
  taskId: string,
  { isBeforeRefund = false }: { readonly isBeforeRefund?: boolean } = {},
): Promise<number> {
  const entries = await findRows(database, 'credits', {
    task_id: taskId,
    ...(isBeforeRefund && { kind: 'charge' }),
  });
  return entries.reduce((sum, { kind, amount }) => sum + (kind === 'charge' ? amount : -amount), 0);
}

/** What starting a task costs, and whom. */
export interface Spending {
  readonly userId: string;
  /** The API key that starts it. */
  readonly keyId: string | undefined;
  /** Credits. */
  readonly amount: number;
}

type BudgetContext = Pick<Context, 'configuration' | 'now'>;
type Budget = z.output<typeof BudgetSchema>;

// Decided: budgets are per calendar month, in UTC. What a task cost is given back to the month of its charge.
/**
 * Makes sure that a user's month, that of the key, and the key itself have enough left for a task.
 * @throws Refused quota_exceeded saying what is left, and when it renews if it does
 */
export async function requireBudget(
  database: Database,
  context: BudgetContext,
  { userId, keyId, amount }: Spending,
): Promise<void> {
  if (amount === 0) return;
  if (keyId !== undefined) {
    const key = await getRow(database, 'api_keys', { id: keyId });
    const who = `The API key "${key.name}"`;
    const budget = await readKeyBudget(database, context, key);
    if (budget) requireLeft(who, budget, amount, `; ${MORE_OF_KEY}`);
    const { credits = 0, left = amount } = (await readKeyTotal(database, key)) ?? {};
    if (amount > left)
      throw new Refused(
        'quota_exceeded',
        `${who} may spend ${credits} credits in all (${left} left), but this task costs ${amount}; ${MORE_OF_KEY}.`,
      );
  }
  const budget = await readUserBudget(database, context, userId);
  if (budget) requireLeft('You', budget, amount);
}

const MORE_OF_KEY = 'its user can create another key';

function requireLeft(
  who: string,
  { credits_per_month, left, renews_at }: Budget,
  amount: number,
  more = '',
): void {
  if (amount <= left) return;
  throw new Refused(
    'quota_exceeded',
    `${who} may spend ${credits_per_month} credits a month (${left} left), but this task costs ${amount}; the next month begins at ${renews_at}${more}.`,
  );
}

/** @returns undefined if the user has no limit */
export async function readUserBudget(
  database: Database,
  context: BudgetContext,
  userId: string,
): Promise<Budget | undefined> {
  const user = await findRow(database, 'users', { id: userId });
  // The embedded owner is the operator.
  const standard = userId === OWNER_ID ? undefined : context.configuration.quotas.creditsPerMonth;
  const limit = user?.credits_per_month ?? standard;
  return limit === undefined ? undefined : measureBudget(database, context, limit, ['user_id', userId]);
}

/** @returns undefined if the key has no limit of its own */
export async function readKeyBudget(
  database: Database,
  context: BudgetContext,
  { id, credits_per_month }: { readonly id: string; readonly credits_per_month: number | null },
): Promise<Budget | undefined> {
  return credits_per_month === null
    ? undefined
    : measureBudget(database, context, credits_per_month, ['key_id', id]);
}

/** @returns undefined if the key has no limit in all */
export async function readKeyTotal(
  database: Database,
  { id, credits }: Pick<Row<'api_keys'>, 'id' | 'credits'>,
): Promise<z.output<typeof TotalBudget> | undefined> {
  if (credits === null) return undefined;
  const used = await sumUsed(database, ['key_id', id]);
  return { credits, used, left: Math.max(credits - used, 0) };
}

type Spender = readonly ['user_id' | 'key_id', string];

async function measureBudget(
  database: Database,
  { now }: BudgetContext,
  limit: number,
  spender: Spender,
): Promise<Budget> {
  const month = toMonth(now());
  const used = await sumUsed(database, spender, month);
  const [year, number] = month.split('-').map(Number) as [number, number];
  return {
    credits_per_month: Number(limit),
    used,
    left: Math.max(limit - used, 0),
    renews_at: new Date(Date.UTC(year, number)).toISOString(),
  };
}

/** What counts for budgets. @param month absent: of all months */
async function sumUsed(database: Database, [column, id]: Spender, month?: string): Promise<number> {
  const rows = await database
    .selectFrom('credits')
    .select(['kind', ({ fn }) => fn.sum<number>('amount').as('amount')])
    .where(column, '=', id)
    .$if(month !== undefined, (all) => all.where('month', '=', month as string))
    .groupBy('kind')
    .execute();
  const sum = (kind: 'charge' | 'refund') => Number(rows.find((row) => row.kind === kind)?.amount ?? 0);
  return sum('charge') - sum('refund');
}

/** The month of a time in UTC: `2026-03`. @param milliseconds since the epoch */
function toMonth(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 7);
}
