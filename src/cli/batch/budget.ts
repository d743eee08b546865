import { getTaskFacts } from '../../contract/index.js';
import type { Prices } from '../../contract/prices.js';
import type { Job } from '../../flows/tasks/start-task.js';
import type { Needs } from '../connect/context.js';
import { createUnknownPriceFailure, readPrices } from '../generation/price.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { Journal } from './journal.js';

/** Limits what jobs cost together. The price of each is reserved before the job is sent. */
export class Budget {
  /** Reserved or spent. */
  #held: number;
  /** Reserved for running jobs, by key; it may be released. */
  readonly #reserved = new Map<string, number>();
  #waiting: (() => void)[] = [];

  /** @param held credits of jobs of earlier runs, spent or running */
  constructor(
    readonly most: number,
    held: number,
    readonly prices: Prices,
  ) {
    this.#held = held;
  }

  get left(): number {
    return Math.max(0, this.most - this.#held);
  }

  /**
   * Reserves the price of a job. Waits while a running job may still release credits.
   * @returns whether there were enough
   */
  async reserve(key: string, price: number): Promise<boolean> {
    while (this.#held + price > this.most) {
      if (this.#reserved.size === 0) return false;
      await new Promise<void>((changed) => this.#waiting.push(changed));
    }
    this.#held += price;
    this.#reserved.set(key, price);
    return true;
  }

  /** Continues a job whose price was reserved by an earlier run. */
  resume(key: string, price: number): void {
    this.#reserved.set(key, price);
  }

  /** Ends a job, and replaces its reservation by its cost. If the cost is unknown, the reservation stays. */
  settle(key: string, cost?: number): void {
    const reserved = this.#reserved.get(key);
    if (reserved === undefined) return;
    this.#reserved.delete(key);
    this.#held += (cost ?? reserved) - reserved;
    for (const changed of this.#waiting.splice(0)) changed();
  }
}

/**
 * The budget of `--max-credits`, if it was given. It is for the whole batch, including earlier runs.
 * @throws Failure if the service publishes no prices
 */
export async function openBudget(
  context: Needs<'services' | 'signal'>,
  journal: Journal,
  most: number | undefined,
): Promise<Budget | undefined> {
  if (most === undefined) return undefined;
  const prices = await readPrices(context);
  const { name } = context.services.target;
  if (!prices) throw createUnknownPriceFailure(`${name} publishes no prices`);
  const held = [...journal.entries()].reduce((sum, [, { credits = 0 }]) => sum + credits, 0);
  return new Budget(most, held, prices);
}

/**
 * Reserves the price of a job.
 * @returns the price
 * @throws Failure if it exceeds the budget or is unknown
 */
export async function reserveCredits(budget: Budget, key: string, { operation, body }: Job): Promise<number> {
  const price = getTaskFacts(operation).price(budget.prices, body);
  if (price === undefined)
    throw toUnsentFailure(`The service publishes no price of ${operation}.`, 'price_unknown');
  if (await budget.reserve(key, price)) return price;
  throw toUnsentFailure(
    `The job costs ${price} credits; --max-credits leaves ${budget.left}.`,
    'over_budget',
  );
}

function toUnsentFailure(message: string, code: string): Failure {
  return new Failure(message, { code, exit: exitCodes.someFailed });
}
