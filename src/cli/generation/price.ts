import { ResponseError, ServiceError } from '../../client/errors.js';
import { getTaskFacts } from '../../contract/index.js';
import { Prices } from '../../contract/prices.js';
import { regen, say } from '../../contract/schema/message.js';
import type { EarlierRun, Job } from '../../flows/tasks/start-task.js';
import { type FlagValues, readNumber } from '../command/command.js';
import { confirm } from '../command/confirm.js';
import type { Needs } from '../connect/context.js';
import { Failure } from '../terminal/failure.js';
import { formatCount } from '../terminal/text.js';

type PriceContext = Needs<'flags' | 'system' | 'output' | 'signal' | 'settings' | 'services' | 'mayAsk'>;

/** What the price of a job depends on. */
export type PricedJob = Pick<Job, 'operation' | 'body'>;

/**
 * Reports what jobs cost before they start, and asks for confirmation above the limit in the settings.
 * @param findEarlierRun finds the jobs that are paid for; called only if they cost anything
 * @returns the prices, if the service publishes them
 * @throws Failure if it is more than `--max-credits`, if that is unknown, or if the answer is no
 */
export async function checkPrice<One extends PricedJob>(
  context: PriceContext,
  jobs: readonly One[],
  findEarlierRun: () => Promise<EarlierRun<One>>,
): Promise<Prices | undefined> {
  const most = readNumber(context.flags, 'max-credits');
  const prices = await readPrices(context);
  const earlier = sumPrices(prices, jobs) === 0 ? NO_EARLIER_RUN : await findEarlierRun();
  const left = jobs.filter((job) => !earlier.started.has(job));
  if (left.length === 0) return prices;
  const subject = describeRest(earlier.started.size > 0, earlier.unanswered > 0);
  const price = sumPrices(prices, left);
  if (most !== undefined && price === undefined)
    throw createUnknownPriceFailure(`${context.services.target.name} does not publish this price`);
  requireLimit(context.flags, left, price, subject);
  await confirmPrice(context, left, prices, { subject });
  return prices;
}

/** An earlier run that did nothing of the jobs. */
export const NO_EARLIER_RUN: EarlierRun<never> = { started: new Set(), unanswered: 0 };

/**
 * Begins the sentence on the price of what is left after an earlier run.
 * @param isUnsure whether some of it may be paid for, because its response was lost
 * @returns undefined if all is left
 */
export function describeRest(isResumed: boolean, isUnsure: boolean): string | undefined {
  if (isUnsure) return 'The rest costs at most';
  return isResumed ? 'The rest costs' : undefined;
}

/** @throws Failure if jobs cost more than `--max-credits` */
export function requireLimit(
  flags: FlagValues,
  jobs: readonly PricedJob[],
  price: number | undefined,
  subject = 'This costs',
): void {
  const most = readNumber(flags, 'max-credits');
  if (most === undefined || price === undefined || price <= most) return;
  throw new Failure(
    `${subject} ${price} credits${jobs.length > 1 ? ' in total' : ''}, more than --max-credits ${most}.`,
    {
      code: 'over_budget',
      hint: say`Nothing was sent. See the prices with: ${regen('video prices')}`,
    },
  );
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
  {
    subject,
    most = Number.POSITIVE_INFINITY,
  }: { readonly subject?: string | undefined; readonly most?: number | undefined } = {},
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
    await context.output.note(
      `${subject ?? 'Costs'} ${formatCount(price, 'credit')}${inTotal}${what}.${limit}`,
    );
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

/** @returns undefined if it is unknown */
export function findPrice(prices: Prices | undefined, { operation, body }: PricedJob): number | undefined {
  return prices && getTaskFacts(operation).price(prices, body);
}

/** @returns undefined if the price of one of the jobs is unknown */
export function sumPrices(prices: Prices | undefined, jobs: readonly PricedJob[]): number | undefined {
  let sum = 0;
  for (const job of jobs) {
    const price = findPrice(prices, job);
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

/**
 * Reports what jobs cost whose requests are only shown. A service that is not running is not started for it.
 * @returns the price of those that an earlier run did not start, if it is known
 */
export async function previewPrice<One extends PricedJob>(
  context: Needs<'output' | 'signal' | 'services' | 'folders' | 'connect'>,
  all: readonly One[],
  { started, unanswered }: EarlierRun<One> = NO_EARLIER_RUN,
): Promise<number | undefined> {
  const jobs = all.filter((job) => !started.has(job));
  const { services, folders, connect, signal, output } = context;
  let prices: Prices | undefined;
  try {
    const { findLocal } = await import('../connect/local.js');
    const isRunning = services.target.baseUrl ?? (await findLocal(folders.data, connect, { signal }));
    prices = isRunning ? await readPrices(context) : undefined;
  } catch {
    signal.throwIfAborted();
  }
  const price = sumPrices(prices, jobs);
  const count = formatCount(all.length, 'job');
  const left = started.size > 0 ? `${jobs.length} of ${count} left` : count;
  if (price !== undefined && all.length > 0)
    await output.note(
      `${left}: ${unanswered > 0 ? 'at most ' : ''}${formatCount(price, 'credit')} in total.`,
    );
  return price;
}

/** The failure of `--max-credits` at a service whose prices are unknown. */
export function createUnknownPriceFailure(why: string): Failure {
  return new Failure(`${why}, so --max-credits cannot be enforced.`, {
    code: 'price_unknown',
    hint: 'Nothing was sent. Run the command without --max-credits to pay any price.',
  });
}
