import { sql } from 'kysely';
import { listTaskOperations } from '../../contract/index.js';
import { toIsoTime } from '../database/clock.js';
import { compileOnce, countRows, type Database, findRow, type Tx } from '../database/database.js';
import { OWNER_ID } from './caller.js';
import type { Context } from './context.js';
import { nameJobKinds } from './engine.js';
import { Refused } from './refused.js';

// Decided: quotas are per user or publisher, and answer 403 quota_exceeded, which clients do not retry. The
// embedded owner and the publishers it belongs to have none.

/** The embedded owner is the operator. */
const hasQuotas = (userId: string) => userId !== OWNER_ID;

export interface TaskDemand {
  readonly userId: string;
  readonly hasWebhook: boolean;
}

/**
 * Counts tasks that are being prepared, too.
 * @throws Refused quota_exceeded if a user has too many tasks or webhooks that have not ended
 */
export async function requireTaskQuota(
  database: Database,
  { configuration: { quotas }, now, reservations }: QuotaContext,
  { userId, hasWebhook }: TaskDemand,
): Promise<void> {
  if (!hasQuotas(userId)) return;
  const begun = await reservations.sum(database, userId, 'tasksInFlight');
  const unfinished = (await countTasks(database, userId)) + begun;
  if (unfinished >= quotas.tasksInFlight) {
    throw quotaExceeded(
      `You have ${quotas.tasksInFlight} unfinished tasks, which is the limit per user; start more when some have ended.`,
    );
  }
  const cancelled = await countCancelled(database, userId, now());
  if (unfinished + cancelled >= quotas.tasksInFlight) {
    throw quotaExceeded(
      `You have ${unfinished} unfinished tasks, and a vendor may still work on ${cancelled} that you cancelled within an hour; the limit per user is ${quotas.tasksInFlight}.`,
    );
  }
  if (hasWebhook) await requireWebhookQuota(database, quotas, userId);
}

/**
 * Counts a task of a user from now on, before it is created.
 * @returns the id of its reservation; undefined for who has no quotas
 * @throws as `requireTaskQuota`
 */
export async function reserveTask(
  tx: Tx,
  context: QuotaContext,
  demand: TaskDemand,
): Promise<string | undefined> {
  if (!hasQuotas(demand.userId)) return undefined;
  await requireTaskQuota(tx, context, demand);
  return context.reservations.add(tx, { owner: demand.userId, quota: 'tasksInFlight', amount: 1 });
}

type Quotas = Context['configuration']['quotas'];

/** @throws Refused quota_exceeded if the webhooks of too many tasks of a user are not delivered */
export async function requireWebhookQuota(
  database: Database,
  { pendingWebhooks }: Quotas,
  userId: string,
): Promise<void> {
  if (!hasQuotas(userId) || (await countWebhooks(database, userId)) < pendingWebhooks) return;
  throw quotaExceeded(
    `The webhooks of ${pendingWebhooks} of your tasks are not delivered yet, which is the limit per user; wait until some are delivered, or given up after 24 hours.`,
  );
}

/** What a publisher may have a number of: the table, and what to do at the limit. */
const COUNTED = {
  nodes: { table: 'nodes', remedy: 'use another publisher' },
  members: { table: 'members', remedy: 'remove one' },
  tokens: { table: 'personal_access_tokens', remedy: 'revoke one' },
  trusts: { table: 'trusts', remedy: 'remove one' },
} as const;

/** @throws Refused quota_exceeded if a publisher has too many of something to get another */
export async function requireCountQuota(
  database: Database,
  { configuration: { quotas } }: Pick<Context, 'configuration'>,
  { publisherId, quota }: { readonly publisherId: string; readonly quota: keyof typeof COUNTED },
): Promise<void> {
  const { table, remedy } = COUNTED[quota];
  const countIn = (name: typeof table | 'invitations') =>
    countRows(database.selectFrom(name).where('publisher_id', '=', publisherId));
  const count = (await countIn(table)) + (quota === 'members' ? await countIn('invitations') : 0);
  if (count < quotas[quota] || (await isOwnersPublisher(database, publisherId))) return;
  throw quotaExceeded(
    `The publisher ${publisherId} has ${count} ${quota}, and the limit is ${quotas[quota]}; ${remedy}, or ask an admin.`,
  );
}

interface UserCount {
  /** @param yesterday a day ago, as text */
  count(database: Database, userId: string, yesterday: string): Promise<number>;
  /** Says how many there are and what the limit is, and what to do. */
  explain(count: number, limit: number): string;
}

const USER_COUNTS = {
  publishers: {
    count: (database, userId) =>
      countRows(database.selectFrom('members').where('user_id', '=', userId).where('role', '=', 'owner')),
    explain: (count, limit) =>
      `You own ${count} publishers, and the limit is ${limit} per user; leave one before you create another, or ask an admin.`,
  },
  keys: {
    count: (database, userId, yesterday) =>
      countRows(
        database
          .selectFrom('api_keys')
          .where('user_id', '=', userId)
          // One that a killed program left expires, and is not extended after a day.
          .where('expires_at', '>', yesterday)
          .where((where) => where.or([where('revoked_at', 'is', null), where('revoked_at', '>', yesterday)])),
      ),
    explain: (count, limit) =>
      `You have ${count} API keys, those that ended within a day included, and the limit is ${limit} per user; revoke some, and create others a day later.`,
  },
  // Accepted or not.
  invitationsPerDay: {
    count: (database, userId, yesterday) =>
      countRows(
        database
          .selectFrom('events')
          .where('actor', '=', userId)
          // As the index of these events is declared.
          .where(sql<boolean>`action = 'member.invite'`)
          .where('at', '>', yesterday),
      ),
    explain: (count, limit) =>
      `You have invited ${count} people within a day, and the limit is ${limit} per user; try again tomorrow.`,
  },
} satisfies Readonly<Record<string, UserCount>>;

/** @throws Refused quota_exceeded if a user has too many of something to get another */
export async function requireUserQuota(
  database: Database,
  { configuration: { quotas }, now }: Pick<Context, 'configuration' | 'now'>,
  { userId, quota }: { readonly userId: string; readonly quota: keyof typeof USER_COUNTS },
): Promise<void> {
  if (!hasQuotas(userId)) return;
  const { count, explain }: UserCount = USER_COUNTS[quota];
  const found = await count(database, userId, toIsoTime(now() - DAY_MS));
  if (found >= quotas[quota]) throw quotaExceeded(explain(found, quotas[quota]));
}

const TASK_JOBS = ['image', 'video', ...listTaskOperations()].flatMap((name) =>
  Object.values(nameJobKinds(name)),
);

/** Counts the jobs of a user that have not ended: unlike tasks, they are few. */
function createJobCount(kinds: readonly string[]): (database: Database, userId: string) => Promise<number> {
  const count = compileOnce((database, userId: string) =>
    database
      .selectFrom('jobs')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('owner', '=', userId)
      .where('kind', 'in', kinds),
  );
  return async (database, userId) => Number((await count(database, userId))[0]?.count);
}

// Decided: a cancelled task counts for an hour after a vendor was asked for it, because the vendor goes on.
const CANCELLED_COUNTS_MS = 60 * 60_000;

const findCancelledCount = compileOnce((database, userId: string, since: string) =>
  database
    .selectFrom('tasks')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('creator', '=', userId)
    .where('asked_at', '>', since)
    // As the index of these tasks is declared.
    .where(sql<boolean>`error_code = 'cancelled'`)
    // One whose job has not ended is counted by it.
    .where('id', 'not in', (of) =>
      of.selectFrom('jobs').select('key').where('owner', '=', userId).where('kind', 'in', TASK_JOBS),
    ),
);

async function countCancelled(database: Database, userId: string, now: number): Promise<number> {
  const since = new Date(now - CANCELLED_COUNTS_MS).toISOString();
  return Number((await findCancelledCount(database, userId, since))[0]?.count);
}

const countTasks = createJobCount(TASK_JOBS);
const countWebhooks = createJobCount(['deliver-webhook']);

/** What a publisher is about to use up. */
export interface DailyDemand {
  readonly publisherId: string;
  readonly quota: 'versionsPerDay' | 'bytesPerDay';
  readonly amount: number;
}

type QuotaContext = Pick<Context, 'configuration' | 'now' | 'reservations'>;

/** @throws Refused quota_exceeded if it is more than what is left of a publisher's day, in UTC */
async function requireDailyQuota(
  database: Database,
  { configuration, now, reservations }: QuotaContext,
  { publisherId, quota, amount }: DailyDemand,
): Promise<void> {
  if (await isOwnersPublisher(database, publisherId)) return;
  const limit = configuration.quotas[quota];
  const day = toDay(now());
  const row = await findRow(database, 'quota_usage', { publisher_id: publisherId, quota, day });
  const begun = quota === 'bytesPerDay' ? await reservations.sum(database, publisherId, 'bytesPerDay') : 0;
  const used = Number(row?.amount ?? 0) + begun;
  if (used + amount <= limit) return;
  const renewed = `${toDay(now() + DAY_MS)}T00:00:00Z`;
  const what =
    quota === 'versionsPerDay'
      ? `register ${limit} versions a day and has done so today`
      : `upload ${limit} bytes a day (${Math.max(limit - used, 0)} left), but this archive has ${amount}`;
  throw quotaExceeded(`The publisher ${publisherId} may ${what}; try again after ${renewed}.`);
}

/**
 * Counts the bytes of an upload from now on, before they arrive.
 * @returns the id of its reservation
 * @throws Refused quota_exceeded
 */
export async function reserveUpload(
  tx: Tx,
  context: QuotaContext,
  { publisherId, bytes }: { readonly publisherId: string; readonly bytes: number },
): Promise<string> {
  const demand = { publisherId, quota: 'bytesPerDay', amount: bytes } as const;
  await requireDailyQuota(tx, context, demand);
  return context.reservations.add(tx, { owner: publisherId, quota: 'bytesPerDay', amount: bytes });
}

/** @throws Refused quota_exceeded */
export async function takeDailyQuota(tx: Tx, context: QuotaContext, demand: DailyDemand): Promise<void> {
  await requireDailyQuota(tx, context, demand);
  const { publisherId: publisher_id, quota, amount } = demand;
  const day = toDay(context.now());
  await addUsage(tx, publisher_id, quota, day, amount);
}

/** Counts what a publisher has used up already, even beyond the quota. */
export async function chargeDailyQuota(
  tx: Tx,
  { now }: Pick<Context, 'now'>,
  { publisherId, quota, amount }: DailyDemand,
): Promise<void> {
  await addUsage(tx, publisherId, quota, toDay(now()), amount);
}

const addUsage = compileOnce((tx, publisher_id: string, quota: string, day: string, amount: number) =>
  tx
    .insertInto('quota_usage')
    .values({ publisher_id, quota, day, amount })
    .onConflict((conflict) =>
      conflict.columns(['publisher_id', 'quota']).doUpdateSet((row) => ({
        day,
        amount: row
          .case()
          .when('quota_usage.day', '=', row.ref('excluded.day'))
          .then(row('quota_usage.amount', '+', row.ref('excluded.amount')))
          .else(row.ref('excluded.amount'))
          .end(),
      })),
    ),
);

async function isOwnersPublisher(database: Database, publisherId: string): Promise<boolean> {
  const member = await findRow(database, 'members', { publisher_id: publisherId, user_id: OWNER_ID });
  return member !== undefined;
}

const DAY_MS = 24 * 60 * 60_000;

function toDay(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

function quotaExceeded(message: string): Refused {
  return new Refused('quota_exceeded', message);
}
