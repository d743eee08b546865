import { z } from 'zod';
import { type ErrorCode, errorCodes } from '../../contract/error-codes.js';
import { contract, listTaskOperations, type OperationName } from '../../contract/index.js';
import { listOperations } from '../../contract/operation.js';
import { checkValue } from '../../contract/schema/check.js';
import { findNearest } from '../../wire/nearest.js';
import { InvalidConfiguration } from './start-errors.js';

const operations = new Map(listOperations(contract));

const Operation = z.string().refine((name): name is OperationName => operations.has(name), {
  error: ({ input }) => {
    const nearest = findNearest(String(input), [...operations.keys()]);
    return `must be the name of an operation, such as ${nearest ?? listTaskOperations()[0]}`;
  },
});

const MAX_DELAY_MS = 24 * 60 * 60_000;

const RuleFields = z.strictObject({
  operations: z
    .preprocess((given) => (typeof given === 'string' ? [given] : given), z.array(Operation).min(1))
    .optional(),
  nth: z.int().min(1).optional(),
  chance: z.number().min(0).max(1).optional(),
  times: z.int().min(1).optional(),
  delayMs: z.int().min(1).max(MAX_DELAY_MS).optional(),
  refuse: z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]).optional(),
  retryAfterSeconds: z.int().min(0).max(86_400).optional(),
  drop: z.enum(['before', 'after']).optional(),
  expire: z.literal(true).optional(),
  taskDelayMs: z.int().min(1).max(MAX_DELAY_MS).optional(),
  fail: z
    .strictObject({
      code: z.string().min(1).max(100).default('generation_failed'),
      reason: z.string().min(1).max(1000).default('The scenario failed this task.'),
    })
    .optional(),
});

/** One thing that goes wrong, and when. */
export type ScenarioRule = z.output<typeof RuleFields>;

const Rule = RuleFields.superRefine((rule, { addIssue }) => {
  for (const message of findContradictions(rule)) addIssue({ code: 'custom', message });
});

const Rules = z.strictObject({ rules: z.array(Rule).min(1) });

/** Whether a rule is about tasks that run; the others are about requests. */
export function isTaskRule({ fail, taskDelayMs }: ScenarioRule): boolean {
  return fail !== undefined || taskDelayMs !== undefined;
}

/** @throws InvalidConfiguration with everything that is wrong */
export function parseScenario(document: unknown): readonly ScenarioRule[] {
  const checked = checkValue(Rules, document);
  if (checked.ok) return checked.value.rules;
  const problems = checked.problems.map(({ path, message }) => ({ path: ['scenario', ...path], message }));
  throw new InvalidConfiguration(problems);
}

function findContradictions(rule: ScenarioRule): string[] {
  const { nth, chance, delayMs, refuse, drop, expire, retryAfterSeconds } = rule;
  const ends = [refuse, drop, expire].filter((effect) => effect !== undefined).length;
  const isOfRequests = ends > 0 || delayMs !== undefined;
  const starts = rule.operations?.some((name) => operations.get(name)?.task) ?? true;
  const status = refuse && errorCodes[refuse].status;
  const rules: readonly (readonly [isBroken: boolean, message: string])[] = [
    [nth !== undefined && chance !== undefined, 'must have nth or chance, not both'],
    [ends > 1, 'must have one of refuse, drop and expire'],
    [
      isOfRequests === isTaskRule(rule),
      'must have delayMs, refuse, drop or expire for requests, or taskDelayMs or fail for tasks',
    ],
    [isTaskRule(rule) && !starts, 'must name an operation that starts a task, or none'],
    [
      retryAfterSeconds !== undefined && status !== 429 && status !== 503,
      'must refuse with rate_limited or unavailable to have retryAfterSeconds',
    ],
  ];
  return rules.flatMap(([isBroken, message]) => (isBroken ? [message] : []));
}
