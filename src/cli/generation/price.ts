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

/**
 * Reports what jobs cost before they start, and asks for confirmation above the limit in the settings.
 * @throws Failure if it is more than `--max-credits`, if that is unknown, or if the answer is no
 */
export async function checkPrice(
  context: Needs<'flags' | 'system' | 'output' | 'signal' | 'settings' | 'services' | 'mayAsk'>,
  jobs: readonly Job[],
): Promise<void> {
  const most = readNumber(context.flags, 'max-credits');
  const prices = await readPrices(context);
  const price =
    prices && sumPrices(jobs.map(({ operation, body }) => getTaskFacts(operation).price(prices, body)));
  if (prices === undefined || price === undefined) return reportUnknownPrice(context, jobs, most);
  const inTotal = jobs.length > 1 ? ' in total' : '';
  if (most !== undefined && price > most) {
    throw new Failure(`This costs ${price} credits${inTotal}, more than --max-credits ${most}.`, {
      code: 'over_budget',
      hint: say`Nothing was sent. See the prices with: ${regen('video prices')}`,
    });
  }
  // Decided: a price of 0 is not reported.
  const isPreview = jobs.some(({ operation }) => isPreviewed(operation, prices.previews));
  const isHere = context.services.target.baseUrl === undefined;
  const [subject, noun] = jobs.length > 1 ? ['These are', 'previews'] : ['This is', 'a preview'];
  if (price > 0) {
    const made = isHere ? ' made on this machine; nothing is billed' : ', not made by a vendor';
    const what = isPreview ? ` for ${noun}${made}` : '';
    await context.output.note(`Costs ${formatCount(price, 'credit')}${inTotal}${what}.`);
  } else if (isPreview) {
    const made = isHere ? ' made on this machine, not by a vendor' : ', not made by a vendor';
    await context.output.note(`${subject} ${noun}${made}.`);
  }
  const isBelowLimit = price <= Number(context.settings.get('confirm_credits')?.value);
  if (!isBelowLimit)
    await confirm(context, `Spend ${formatCount(price, 'credit')}?`, 'Cancelled. Nothing was started.');
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

function sumPrices(prices: readonly (number | undefined)[]): number | undefined {
  return prices.reduce((all, one) => (all === undefined || one === undefined ? undefined : all + one), 0);
}

async function reportUnknownPrice(
  { output, services }: Needs<'output' | 'services'>,
  jobs: readonly Job[],
  most: number | undefined,
): Promise<void> {
  const { name } = services.target;
  if (most !== undefined) throw createUnknownPriceFailure(`${name} does not publish this price`);
  // Images are free on almost every service.
  if (jobs.some(({ operation }) => getTaskFacts(operation).kind === 'video'))
    await output.note(`${name} does not publish the price of this video.`);
}

/** The failure of `--max-credits` at a service whose prices are unknown. */
export function createUnknownPriceFailure(why: string): Failure {
  return new Failure(`${why}, so --max-credits cannot be enforced.`, {
    code: 'price_unknown',
    hint: 'Nothing was sent. Run the command without --max-credits to pay any price.',
  });
}
