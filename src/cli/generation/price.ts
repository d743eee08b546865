import { ResponseError, ServiceError } from '../../client/errors.js';
import { getTaskFacts } from '../../contract/index.js';
import { Prices } from '../../contract/prices.js';
import type { FlagValues } from '../command/command.js';
import type { ServiceConnector } from '../connect/services.js';
import type { Settings } from '../connect/settings.js';
import type { Target } from '../connect/target.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';
import type { Job } from './plan.js';

export interface PriceContext {
  readonly services: ServiceConnector;
  readonly settings: Settings;
  readonly output: Output;
  readonly system: Pick<System, 'prompts'>;
  readonly flags: FlagValues;
  readonly mayAsk: boolean;
  readonly signal: AbortSignal;
}

/**
 * Says what jobs cost before they are started, and asks where that is much.
 * @throws Failure where it is more than `--max-credits`, where that cannot be told, or where the answer is no
 */
export async function agreeOnPrice(
  context: PriceContext,
  jobs: readonly Job[],
  target: Target,
): Promise<void> {
  const most = mostCredits(context.flags);
  const prices = await readPrices(context, target);
  const price =
    prices && sumPrices(jobs.map(({ operation, body }) => getTaskFacts(operation).price(prices, body)));
  if (price === undefined) return sayUnknown(context.output, jobs, target, most);
  const inAll = jobs.length > 1 ? ' in all' : '';
  if (most !== undefined && price > most) {
    throw new Failure(`This costs ${price} credits${inAll}, more than --max-credits ${most}.`, {
      code: 'over_budget',
      exit: exitCodes.usage,
      hint: 'Nothing was sent. `regen video prices` shows what is cheaper.',
    });
  }
  // Decided: what costs nothing is not worth a word.
  if (price > 0) await context.output.note(`Costs ${formatCredits(price)}${inAll}.`);
  await confirmPrice(context, price);
}

/** What generation costs at a service; `undefined` where it does not tell, or not in a form that is known here. */
export async function readPrices(
  { services, signal }: Pick<PriceContext, 'services' | 'signal'>,
  target: Target,
): Promise<Prices | undefined> {
  const { client } = await services.reach(target);
  try {
    const answer = await client.video.prices({}, { signal });
    return Prices.safeParse(answer).data;
  } catch (error) {
    // Why it refuses, the start itself tells better.
    if (error instanceof ServiceError || error instanceof ResponseError) return undefined;
    throw error;
  }
}

/** @throws Failure where `--max-credits` is no whole number */
export function mostCredits(flags: FlagValues): number | undefined {
  const given = flags['max-credits'];
  if (given === undefined) return undefined;
  if (/^\d{1,15}$/.test(String(given))) return Number(given);
  throw usage(`--max-credits is a whole number of credits, not '${given}'.`);
}

function sumPrices(prices: readonly (number | undefined)[]): number | undefined {
  return prices.reduce((all, one) => (all === undefined || one === undefined ? undefined : all + one), 0);
}

async function sayUnknown(
  output: Output,
  jobs: readonly Job[],
  { name }: Target,
  most: number | undefined,
): Promise<void> {
  if (most !== undefined) {
    throw new Failure(`${name} tells no price of this, so --max-credits cannot be kept.`, {
      code: 'price_unknown',
      exit: exitCodes.usage,
      hint: 'Nothing was sent. Leave it out to pay whatever this costs.',
    });
  }
  // Images cost nothing almost everywhere.
  if (jobs.some(({ operation }) => getTaskFacts(operation).kind === 'video'))
    await output.note(`${name} does not say beforehand what this costs.`);
}

async function confirmPrice({ flags, mayAsk, settings, system }: PriceContext, price: number): Promise<void> {
  const limit = Number(settings.get('confirm_credits')?.value);
  if (flags.yes || !mayAsk || price <= limit) return;
  if (await system.prompts.confirm(`Spend ${formatCredits(price)}?`)) return;
  throw new Failure('Nothing was started.', { code: 'declined', exit: exitCodes.usage });
}

function formatCredits(credits: number): string {
  return credits === 1 ? '1 credit' : `${credits} credits`;
}
