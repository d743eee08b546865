import { z } from 'zod';
import { DateTime } from './schema/identifiers.js';
import { defineObject, defineRequest } from './schema/values.js';

/** The credits of a month in UTC. */
export const Budget = defineObject('Budget', {
  credits_per_month: z.int().describe('Credits that tasks may cost in a month, in UTC'),
  used: z.number().describe('Credits that the tasks of this month cost'),
  left: z.number(),
  renews_at: DateTime,
});

/** The credits of an API key until it ends. */
export const TotalBudget = defineObject('TotalBudget', {
  credits: z.int().describe('Credits that tasks may cost in all'),
  used: z.number().describe('Credits that tasks cost; what is given back can be spent again'),
  left: z.number(),
});

/** What rows of usage can be grouped by. */
export const usageDimensions = ['day', 'operation', 'model', 'key', 'user'] as const;

const date = (description: string) =>
  z
    .string()
    .max(10)
    .regex(/^\d{4}-\d{2}-\d{2}$/, { error: 'must be a date such as 2026-03-01' })
    .optional()
    .meta({ description });

/** Decided: usage is read for 366 days at most, which bounds its size. */
export const MAX_USAGE_DAYS = 366;

// Decided: without dates, usage is that of the current month, in UTC.
export const UsageQuery = z.object({
  by: z.array(z.enum(usageDimensions)).optional().describe('Group rows by; default: everything'),
  from: date('First day, such as 2026-03-01; default: the first of the month of the last day'),
  to: date('Last day; default: today'),
});

const UsageRow = defineObject('UsageRow', {
  day: z.string().optional().describe('Date in UTC'),
  user_id: z.string().optional(),
  user_email: z.string().optional(),
  key_id: z.string().optional().describe('API key that started the tasks, if one did'),
  key_name: z.string().optional(),
  operation: z.string().optional(),
  model: z.string().optional().describe('Model of a video'),
  tasks: z.int().describe('Tasks that were started'),
  charged: z.number().describe('Credits charged'),
  refunded: z
    .number()
    .describe('Credits given back for tasks that failed, or were cancelled before they started'),
  credits: z.number().describe('Credits charged and not refunded'),
  vendor_credits: z
    .number()
    .optional()
    .describe('Credits of their own that vendors charged, if they say so; for admins only'),
  difference: z
    .number()
    .optional()
    .describe('Credits of the tasks whose vendor says what it charged, less vendor_credits'),
});

export const Usage = defineObject('Usage', {
  from: z.string(),
  to: z.string(),
  credits: z.number().describe('Credits of all rows'),
  rows: z.array(UsageRow),
  budget: Budget.optional().describe('What is left of your month; absent without a limit'),
});

/** A user, as admins see what they may spend. */
export const UserBudget = defineObject('UserBudget', {
  id: z.string(),
  email: z.string().optional(),
  name: z.string().optional(),
  budget: Budget.optional().describe('Absent without a limit'),
});

export const ListedUser = defineObject('ListedUser', {
  id: z.string(),
  email: z.string().optional(),
  name: z.string().optional(),
  credits_per_month: z.int().optional().describe('Own budget; absent if that of the configuration holds'),
  created_at: DateTime.describe('When the user first signed in'),
  seen_at: DateTime.optional().describe('When the user last signed in'),
});

export const NewUserBudget = defineRequest('NewUserBudget', {
  credits_per_month: z
    .union([z.int().min(0).max(1_000_000_000), z.literal('default')], {
      error: ({ input }) =>
        input === undefined ? 'is required' : "must be a whole number from 0 to 1000000000, or 'default'",
    })
    .describe('Credits per month in UTC, or default for the limit of the configuration'),
});
