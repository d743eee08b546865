import { getTaskFacts } from '../../contract/index.js';
import type { Prices } from '../../contract/prices.js';
import type { Job } from '../generation/plan.js';
import { type PriceContext, readPrices } from '../generation/price.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { Budget } from './budget.js';
import type { Journal } from './journal.js';

/** What jobs may cost together, and what each costs. */
export interface Purse {
  readonly budget: Budget;
  readonly prices: Prices;
}

/**
 * The purse of `--max-credits`, if it was given. It is of the whole batch: earlier runs have drawn on it.
 * @throws Failure where the service tells no prices
 */
export async function openPurse(
  context: Pick<PriceContext, 'services' | 'signal'>,
  journal: Journal,
  most: number | undefined,
): Promise<Purse | undefined> {
  if (most === undefined) return undefined;
  const { target } = context.services;
  const prices = await readPrices(context, target);
  if (!prices) {
    throw new Failure(`${target.name} tells no prices, so --max-credits cannot be kept.`, {
      code: 'price_unknown',
      exit: exitCodes.usage,
      hint: 'Nothing was sent. Leave it out to pay whatever the jobs cost.',
    });
  }
  const held = [...journal.entries()].reduce((sum, [, { credits = 0 }]) => sum + credits, 0);
  return { budget: new Budget(most, held), prices };
}

/**
 * Reserves what a job costs, and gives its price.
 * @throws Failure where it does not fit, or its price is not known
 */
export async function reserveCredits(
  { budget, prices }: Purse,
  key: string,
  { operation, body }: Job,
): Promise<number> {
  const price = getTaskFacts(operation).price(prices, body);
  if (price === undefined)
    throw toUnsentFailure(`The service tells no price of ${operation}.`, 'price_unknown');
  if (await budget.reserve(key, price)) return price;
  throw toUnsentFailure(`It costs ${price} credits, and --max-credits leaves ${budget.left}.`, 'over_budget');
}

function toUnsentFailure(message: string, code: string): Failure {
  return new Failure(message, { code, exit: exitCodes.someFailed });
}
