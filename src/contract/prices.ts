import { z } from 'zod';
import { defineObject } from './schema/values.js';
import { resolveVideoFormat, type VideoModel } from './video-models.js';

const credits = z.number().min(0);

/** The prices of images and videos, in credits. */
export const Prices = defineObject('Prices', {
  video_per_second: z
    .record(z.string(), z.record(z.string(), credits))
    .describe('Credits per second, by model and resolution'),
  image: z.record(z.string(), credits).describe('Credits per task, by operation, such as relight'),
  is_rec: credits.describe('Credits added for the recommended prompt'),
  off_peak: credits.describe('Factor applied to the price in off-peak mode; the result is rounded up'),
  previews: z
    .array(z.string())
    .optional()
    .describe('Kinds of tasks or operations whose results are only previews, made without a vendor'),
});

export type Prices = z.infer<typeof Prices>;

type PriceFunction = (prices: Prices, body: Readonly<Record<string, unknown>>) => number | undefined;

export function createImagePrice(key: string): PriceFunction {
  return (prices) => getOwn(prices.image, key);
}

/**
 * Prices a video task, in whole credits.
 * @param defaultModel the model of a request without one; other absent fields have their defaults as well
 */
export function createVideoPrice(defaultModel: VideoModel): PriceFunction {
  return (prices, body) => {
    const { model, duration, resolution } = resolveVideoFormat(body, defaultModel);
    const perSecond = getOwn(getOwn(prices.video_per_second, model) ?? {}, resolution);
    if (perSecond === undefined) return undefined;
    const factor = body.off_peak === true ? prices.off_peak : 1;
    // Decided: off_peak lowers the price of the seconds; "is_rec adds 10 credits" applies at any time.
    return roundUp(perSecond * duration * factor) + (body.is_rec === true ? roundUp(prices.is_rec) : 0);
  };
}

function getOwn<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Rounds up without charging for floating-point noise: 16.6 * 15 is a little more than 249. */
function roundUp(credits: number): number {
  return Math.ceil(Number(credits.toFixed(6)));
}
