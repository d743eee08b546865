import type { TaskOperation } from '../../contract/index.js';
import { getTaskFacts } from '../../contract/index.js';
import type { Database, Tx } from '../database/database.js';
import type { Context } from '../operation/context.js';
import { requireBudget, type Spending, toMonth } from './budgets.js';

/** The current price of a task, in credits. */
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

// Decided: the price is fixed when a task is created and refunded when it fails.
/**
 * Charges the price of a new task.
 * @throws Refused quota_exceeded if that is more than what is left of a budget
 */
export async function chargeCredits(
  tx: Tx,
  context: Pick<Context, 'configuration' | 'now'>,
  charge: Charge,
): Promise<void> {
  await requireBudget(tx, context, charge);
  const at = new Date(context.now()).toISOString();
  await tx
    .insertInto('credits')
    .values({
      task_id: charge.taskId,
      kind: 'charge',
      user_id: charge.userId,
      amount: charge.amount,
      at,
      month: toMonth(context.now()),
      operation: charge.operation,
      model: charge.model ?? null,
      key_id: charge.keyId ?? null,
    })
    .execute();
}

/** Refunds the price of a task; a second call does nothing. */
export async function refundCredits(tx: Tx, taskId: string, now: number): Promise<void> {
  const paid = await tx
    .selectFrom('credits')
    .selectAll()
    .where('task_id', '=', taskId)
    .where('kind', '=', 'charge')
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('credits')
    .values({ ...paid, kind: 'refund', at: new Date(now).toISOString() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The credits that a task has cost: 0 if they were refunded. */
export async function sumCredits(database: Database, taskId: string): Promise<number> {
  const entries = await database
    .selectFrom('credits')
    .select(['kind', 'amount'])
    .where('task_id', '=', taskId)
    .execute();
  return entries.reduce((sum, { kind, amount }) => sum + (kind === 'charge' ? amount : -amount), 0);
}
