import { ResponseError, ServiceError } from '../../client/errors.js';
import { getTaskFacts } from '../../contract/index.js';
import { Prices } from '../../contract/prices.js';
import { regen, say } from '../../contract/schema/message.js';
import type { Job } from '../../flows/tasks/start-task.js';
import { readNumber } from '../command/command.js';
import { confirm } from '../command/confirm.js';
import type { Needs } from '../connect/context.js';
import { Failure } from '../terminal/failure.js';
import { formatCount } from '../terminal/text.js';

type PriceContext = Needs<'flags' | 'system' | 'output' | 'signal' | 'settings' | 'services' | 'mayAsk'>;

/** What the price of a job depends on. */
export type PricedJob = Pick<Job, 'operation' | 'body'>;

/**
 * Reports what jobs cost before they start, and asks for confirmation above the limit in the settings.
 * @throws Failure if it is more than `--max-credits`, if that is unknown, or if the answer is no
 */
export async function checkPrice(context: PriceContext, jobs: readonly PricedJob[]): Promise<void> {
  const most = readNumber(context.flags, 'max-credits');
  const prices = await readPrices(context);
  const price = sumPrices(prices, jobs);
  if (most !== undefined && price === undefined)
    throw createUnknownPriceFailure(`${context.services.target.name} does not publish this price`);
  if (most !== undefined && price !== undefined && price > most) {
    throw new Failure(
      `This costs ${price} credits${jobs.length > 1 ? ' in total' : ''}, more than --max-credits ${most}.`,
      {
        code: 'over_budget',
        hint: say`Nothing was sent. See the prices with: ${regen('video prices')}`,
      },
    );
  }
  await confirmPrice(context, jobs, prices);
}

/**
 * Reports what jobs cost, and asks for confirmation above the limit in the settings.
 * @param most what may be spent at most, if that is less
 * @throws Failure if the answer is no
 */
export async function confirmPrice(
  context: PriceContext,
  jobs: readonly PricedJob[],
  prices: Prices | undefined,
  { subject = 'Costs', most = Number.POSITIVE_INFINITY } = {},
): Promise<void> {
  const price = sumPrices(prices, jobs);
  if (prices === undefined || price === undefined) return reportUnknownPrice(context, jobs);
  // Decided: a price of 0 is not reported.
  const isPreview = jobs.some(({ operation }) => isPreviewed(operation, prices.previews));
  const isHere = context.services.target.baseUrl === undefined;
  const [these, noun] = jobs.length > 1 ? ['These are', 'previews'] : ['This is', 'a preview'];
  if (price > 0) {
    const inTotal = jobs.length > 1 ? ' in total' : '';
    const made = isHere ? ' made on this machine; nothing is billed' : ', not made by a vendor';
    const what = isPreview ? ` for ${noun}${made}` : '';
    const limit = price > most ? ` --max-credits leaves ${most}, so not all jobs are sent.` : '';
    await context.output.note(`${subject} ${formatCount(price, 'credit')}${inTotal}${what}.${limit}`);
  } else if (isPreview) {
    const made = isHere ? ' made on this machine, not by a vendor' : ', not made by a vendor';
    await context.output.note(`${these} ${noun}${made}.`);
  }
  const spent = Math.min(price, most);
  const isBelowLimit = spent <= Number(context.settings.get('confirm_credits')?.value);
  const upTo = spent < price ? 'up to ' : '';
  if (!isBelowLimit)
    await confirm(
      context,
      `Spend ${upTo}${formatCount(spent, 'credit')}?`,
      'Cancelled. Nothing was started.',
    );
}

/** @param previews kinds of tasks and operations */
function isPreviewed(operation: string, previews: readonly string[] = []): boolean {
  return previews.some((name) => operation === name || operation.startsWith(`${name}.`));
}

/** The prices of the service; `undefined` if it has none, or has them in an unknown form. */
export async function readPrices({
  services,
  signal,
}: Needs<'services' | 'signal'>): Promise<Prices | undefined> {
  const { client } = await services.reach();
  try {
    const answer = await client.video.prices({}, { signal });
    return Prices.safeParse(answer).data;
  } catch (error) {
    // The start reports the reason better.
    const isRefused = error instanceof ServiceError && error.status === 401;
    if (!isRefused && (error instanceof ServiceError || error instanceof ResponseError)) return undefined;
    throw error;
  }
}

/** @returns undefined if the price of one of the jobs is unknown */
export function sumPrices(prices: Prices | undefined, jobs: readonly PricedJob[]): number | undefined {
  let sum = 0;
  for (const { operation, body } of jobs) {
    const price = prices && getTaskFacts(operation).price(prices, body);
    if (price === undefined) return undefined;
    sum += price;
  }
  return sum;
}

async function reportUnknownPrice(
  { output, services }: Needs<'output' | 'services'>,
  jobs: readonly PricedJob[],
): Promise<void> {
  // Images are free on almost every service.
  const videos = jobs.filter(({ operation }) => getTaskFacts(operation).kind === 'video').length;
  if (videos > 0)
    await output.note(
      `${services.target.name} does not publish the price of ${videos > 1 ? 'these videos' : 'this video'}.`,
    );
}

/** The failure of `--max-credits` at a service whose prices are unknown. */
export function createUnknownPriceFailure(why: string): Failure {
  return new Failure(`${why}, so --max-credits cannot be enforced.`, {
    code: 'price_unknown',
    hint: 'Nothing was sent. Run the command without --max-credits to pay any price.',
  });
}
