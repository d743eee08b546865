import { sql } from 'kysely';
import { MAX_USAGE_DAYS, usageDimensions } from '../../contract/usage.js';
import type { Database } from '../database/database.js';
import type { Handlers, OperationAnswer, OperationCall, Read, Write } from '../operation/call.js';
import { recordAction } from '../operation/record-action.js';
import { invalidField, Refused } from '../operation/refused.js';
import { readUserBudget } from './credits.js';

type Usage = OperationAnswer<'admin.usage'>;
type UsageCall = Pick<OperationCall<'admin.usage'>, 'query' | 'context'>;

const readOwnUsage: Read<'user.usage'> = async ({ query, caller, context }, database) => {
  const userId = caller.userId as string;
  const usage = await readUsage({ query, context }, database, userId);
  return { ...usage, budget: await readUserBudget(database, context, userId) };
};

const readAllUsage: Read<'admin.usage'> = async (call, database) => {
  return readUsage(call, database);
};

/** @param userId absent: of all users */
async function readUsage({ query, context }: UsageCall, database: Database, userId?: string): Promise<Usage> {
  const { from, to } = chooseDays(query, context.now());
  const by = new Set(query.by ?? usageDimensions);
  // A user's own usage has one user.
  const hasUsers = by.has('user') && userId === undefined;
  const day = sql<string>`substr(credits.at, 1, 10)`;
  const charged = sql<number>`sum(case when credits.kind = 'charge' then credits.amount else 0 end)`;
  const refunded = sql<number>`sum(case when credits.kind <> 'charge' then credits.amount else 0 end)`;
  // Of the tasks whose vendor says what it charges.
  const covering = sql<number>`sum(case when vendor_credits is null then 0
    when credits.kind = 'charge' then credits.amount else -credits.amount end)`;
  const rows = await database
    .selectFrom('credits')
    .leftJoin('users', 'users.id', 'credits.user_id')
    .leftJoin('api_keys', 'api_keys.id', 'credits.key_id')
    .select([charged.as('charged'), refunded.as('refunded')])
    .select(sql<number>`sum(case when credits.kind = 'charge' then 1 else 0 end)`.as('tasks'))
    .select([sql<number | null>`sum(vendor_credits)`.as('vendor_credits'), covering.as('covering')])
    .$if(by.has('day'), (of) => of.select(day.as('day')).groupBy(day).orderBy(day))
    .$if(hasUsers, (of) =>
      of
        .select(['credits.user_id', 'users.email as user_email'])
        .groupBy(['credits.user_id', 'users.email'])
        .orderBy('credits.user_id'),
    )
    .$if(by.has('key'), (of) =>
      of
        .select(['credits.key_id', 'api_keys.name as key_name'])
        .groupBy(['credits.key_id', 'api_keys.name'])
        .orderBy('credits.key_id'),
    )
    .$if(by.has('operation'), (of) =>
      of.select('credits.operation').groupBy('credits.operation').orderBy('credits.operation'),
    )
    .$if(by.has('model'), (of) =>
      of.select('credits.model').groupBy('credits.model').orderBy('credits.model'),
    )
    .where('credits.at', '>=', `${from}T00:00:00.000Z`)
    .where('credits.at', '<', `${toNextDay(to)}T00:00:00.000Z`)
    .$if(userId !== undefined, (of) => of.where('credits.user_id', '=', userId as string))
    .limit(MAX_ROWS + 1)
    .execute();
  if (rows.length > MAX_ROWS)
    throw invalidField(
      'by',
      `must tell fewer things apart, or ask for fewer days: more than ${MAX_ROWS} rows`,
    );
  const found = rows
    // Without a dimension there is one row, even for nothing.
    .filter(({ charged: some }) => some !== null)
    .map((row) => ({
      day: row.day,
      user_id: row.user_id,
      user_email: row.user_email ?? undefined,
      key_id: row.key_id ?? undefined,
      key_name: row.key_name ?? undefined,
      operation: row.operation,
      model: row.model ?? undefined,
      tasks: Number(row.tasks),
      charged: Number(row.charged),
      refunded: Number(row.refunded),
      credits: Number(row.charged) - Number(row.refunded),
      // What vendors charge the operator is no matter of users.
      ...(userId === undefined && row.vendor_credits !== null && compareCosts(row)),
    }));
  return { from, to, credits: found.reduce((sum, row) => sum + row.credits, 0), rows: found };
}

function compareCosts(row: { readonly vendor_credits: number | null; readonly covering: number }) {
  const vendor_credits = Number(row.vendor_credits);
  return { vendor_credits, difference: Number(row.covering) - vendor_credits };
}

// Decided: usage has at most 30,000 rows, about 8 MB; a sum must not be cut.
const MAX_ROWS = 30_000;

const DAY_MS = 24 * 60 * 60_000;

/** @throws Refused invalid_request */
function chooseDays(query: UsageCall['query'], now: number): { readonly from: string; readonly to: string } {
  const to = query.to ?? new Date(now).toISOString().slice(0, 10);
  const from = query.from ?? `${to.slice(0, 7)}-01`;
  for (const [path, day] of Object.entries({ to, from })) {
    const date = new Date(day);
    if (!Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)) continue;
    throw invalidField(path, 'must be a date such as 2026-03-01');
  }
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days >= 1 && days <= MAX_USAGE_DAYS) return { from, to };
  const message =
    days < 1 ? `must not be after ${to}` : `must be at most ${MAX_USAGE_DAYS} days before ${to}`;
  throw invalidField('from', message);
}

function toNextDay(day: string): string {
  return new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
}

const setUserBudget: Write<'admin.user.set'> = async (call, tx) => {
  const { params, body, context } = call;
  const { credits_per_month } = body;
  const user = await tx
    .updateTable('users')
    .set({ credits_per_month: credits_per_month === 'default' ? null : credits_per_month })
    .where('id', '=', params.userId)
    .returning(['id', 'email', 'name'])
    .executeTakeFirst();
  if (!user) throw new Refused('not_found', `There is no user ${params.userId}.`);
  const reason = `${credits_per_month} credits per month`;
  await recordAction(call, tx, { kind: 'user', id: user.id, action: 'user.budget', reason });
  const { id, email, name } = user;
  const budget = await readUserBudget(tx, context, id);
  return { id, email: email ?? undefined, name: name ?? undefined, budget };
};

export const usageHandlers = {
  'user.usage': { read: readOwnUsage },
  'admin.usage': { read: readAllUsage },
  'admin.user.set': { write: setUserBudget },
} satisfies Partial<Handlers>;
