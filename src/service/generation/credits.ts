import { creditsFor } from '../../contract/prices.js';
import type { Context, Database, Tx } from '../context.js';
import type { TaskOperation } from './engine.js';

/** What a task of this operation costs now, in credits. */
export function priceOf(
  { configuration }: Pick<Context, 'configuration'>,
  operation: TaskOperation,
  request: Readonly<Record<string, unknown>>,
): number {
  const credits = creditsFor(configuration.prices, operation, request);
  if (credits === undefined) throw new Error(`The configuration has no price for this ${operation}.`);
  return credits;
}

interface Charge {
  readonly taskId: string;
  readonly userId: string;
  readonly amount: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

// Decided: credits are fixed when a task is created, whatever becomes of the prices, and given back when it fails.
/** Takes what a new task costs. */
export async function charge(tx: Tx, { taskId, userId, amount, now }: Charge): Promise<void> {
  await tx
    .insertInto('credits')
    .values({
      task_id: taskId,
      kind: 'charge',
      user_id: userId,
      amount,
      at: new Date(now).toISOString(),
    })
    .execute();
}

/** Gives back what a task cost; a second time changes nothing. */
export async function refund(tx: Tx, taskId: string, now: number): Promise<void> {
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

/** What a task has cost in the end: nothing where it was given back. */
export async function creditsOf(database: Database, taskId: string): Promise<number> {
  const entries = await database
    .selectFrom('credits')
    .select(['kind', 'amount'])
    .where('task_id', '=', taskId)
    .execute();
  return entries.reduce((sum, { kind, amount }) => sum + (kind === 'charge' ? amount : -amount), 0);
}
