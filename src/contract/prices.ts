import { z } from 'zod';
import { defaultExtendModel, defaultVideoModel, formatOf } from './video-models.js';

const credits = z.number().min(0);

/** What generation costs, in credits. */
export const Prices = z
  .object({
    video_per_second: z
      .record(z.string(), z.record(z.string(), credits))
      .meta({ description: 'By model and resolution' }),
    image: z.record(z.string(), credits).meta({ description: 'By operation, such as relight' }),
    is_rec: credits.meta({ description: 'Added for the recommended prompt' }),
    off_peak: credits.meta({
      description: 'Factor of the price in off-peak mode; the product is rounded up',
    }),
  })
  .meta({ id: 'Prices' });

export type Prices = z.infer<typeof Prices>;

/**
 * What a start costs, in whole credits; `undefined` where the table has no price for it.
 * @param operation such as `image.relight` or `video.extend`
 * @param body of its request; fields that are absent stand for their defaults
 */
export function creditsFor(
  prices: Prices,
  operation: string,
  body: Readonly<Record<string, unknown>>,
): number | undefined {
  const [noun, verb = ''] = operation.split('.');
  if (noun === 'image') return own(prices.image, verb);
  const { model, duration, resolution } = formatOf(
    body,
    verb === 'extend' ? defaultExtendModel : defaultVideoModel,
  );
  const perSecond = own(own(prices.video_per_second, model) ?? {}, resolution);
  if (perSecond === undefined) return undefined;
  const factor = body.off_peak === true ? prices.off_peak : 1;
  // Decided: off_peak lowers the price of the seconds; "is_rec adds 10 credits" holds at any time.
  return roundedUp(perSecond * duration * factor) + (body.is_rec === true ? roundedUp(prices.is_rec) : 0);
}

function own<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** 0.1 three times is a little more than 0.3 to a computer, which nobody shall pay for. */
function roundedUp(credits: number): number {
  return Math.ceil(Number(credits.toFixed(6)));
}
