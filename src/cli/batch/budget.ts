import type { Prices } from '../../contract/prices.js';
import type { Job } from '../../flows/tasks/start-task.js';
import type { Needs } from '../connect/context.js';
import { createUnknownPriceFailure } from '../generation/price.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { formatCount } from '../terminal/text.js';
import type { Journal } from './journal.js';

/** Limits what jobs cost together. The price of each is reserved before the job is sent, until it has ended. */
export class Budget {
  #spent: number;
  /** For jobs that have not ended, of this run and earlier ones. */
  #reserved: number;
  /** The prices of jobs that this run follows, by key; their reservation may end. */
  readonly #running = new Map<string, number>();
  #waiting: (() => void)[] = [];

  constructor(
    readonly most: number,
    before: { readonly spent: number; readonly reserved: number },
  ) {
    this.#spent = before.spent;
    this.#reserved = before.reserved;
  }

  get left(): number {
    return Math.max(0, this.most - this.#spent - this.#reserved);
  }

  /** Such as `--max-credits 200 leaves 40: 152 are spent, and 8 reserved for jobs that have not ended`. */
  get account(): string {
    const reserved =
      this.#reserved > 0 ? `, and ${this.#reserved} reserved for jobs that have not ended` : '';
    return `--max-credits ${this.most} leaves ${this.left}: ${this.#spent} are spent${reserved}`;
  }

  /**
   * Reserves the price of a job. Waits while a job that this run follows may still release credits.
   * @returns whether there were enough
   */
  async reserve(key: string, price: number): Promise<boolean> {
    while (this.#spent + this.#reserved + price > this.most) {
      if (this.#running.size === 0) return false;
      await new Promise<void>((changed) => this.#waiting.push(changed));
    }
    this.#reserved += price;
    this.#running.set(key, price);
    return true;
  }

  /** Continues a job whose price was reserved by an earlier run. */
  resume(key: string, price: number): void {
    this.#running.set(key, price);
  }

  /** Replaces the reservation of a job by its cost. Without one, the job has not ended, and the reservation stays. */
  settle(key: string, cost?: number): void {
    const price = this.#running.get(key);
    if (price === undefined) return;
    this.#running.delete(key);
    if (cost !== undefined) {
      this.#reserved -= price;
      this.#spent += cost;
    }
    for (const changed of this.#waiting.splice(0)) changed();
  }
}

/**
 * The budget of `--max-credits`, if it was given. It is for the whole batch, including earlier runs.
 * @throws Failure if the service publishes no prices
 */
export function openBudget(
  { services }: Needs<'services'>,
  journal: Journal,
  most: number | undefined,
  prices: Prices | undefined,
): Budget | undefined {
  if (most === undefined) return undefined;
  if (!prices) throw createUnknownPriceFailure(`${services.target.name} publishes no prices`);
  const before = { spent: journal.replacedCredits, reserved: 0 };
  for (const [, { end, credits = 0 }] of journal.entries()) before[end ? 'spent' : 'reserved'] += credits;
  return new Budget(most, before);
}

/**
 * Reserves the price of a job.
 * @throws Failure if it exceeds the budget or is unknown
 */
export async function reserveCredits(budget: Budget, key: string, { operation, price }: Job): Promise<void> {
  if (price === undefined)
    throw toUnsentFailure(`The service publishes no price of ${operation}.`, 'price_unknown');
  if (await budget.reserve(key, price)) return;
  throw toUnsentFailure(
    `The job costs ${formatCount(price, 'credit')}, but ${budget.account}.`,
    'over_budget',
  );
}

function toUnsentFailure(message: string, code: string): Failure {
  return new Failure(message, { code, exit: exitCodes.someFailed });
}
