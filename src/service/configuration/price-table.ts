import { z } from 'zod';
import type { Resolution, VideoModel } from '../../contract/video-models.js';

const priceField = (standard: number, description: string) =>
  z.number().min(0).max(1_000_000).default(standard).describe(description);
const imagePrice = (noun: string) =>
  z.int().min(0).max(1_000_000).default(0).describe(`Credits for one task: ${noun}`);

// Decided: default credits per second, by model and resolution.
const STANDARD_PRICES = {
  'vvq3-pro': { '540p': 4, '720p': 6, '1080p': 10, '2K': 16 },
  'vvq2-pro-fast': { '720p': 3, '1080p': 6 },
  'vvq2-pro': { '540p': 3, '720p': 5, '1080p': 9 },
  'vvq2-turbo': { '540p': 2, '720p': 4, '1080p': 7 },
  vvq1: { '1080p': 6 },
  'vvq1-classic': { '1080p': 6 },
  'vv2.0': { '360p': 1, '720p': 3, '1080p': 6 },
} satisfies Record<VideoModel, Partial<Record<Resolution, number>>>;

function toModelPrices(model: string, prices: Readonly<Record<string, number>>) {
  const fields = Object.entries(prices).map(([resolution, credits]) => [
    resolution,
    priceField(credits, `Credits per second of a video of ${model} in ${resolution}`),
  ]);
  return z
    .strictObject(Object.fromEntries(fields) as Record<string, ReturnType<typeof priceField>>)
    .prefault({});
}

const modelFields = Object.entries(STANDARD_PRICES).map(([model, prices]) => [
  model,
  toModelPrices(model, prices),
]);

/** The prices of tasks in credits, as `video.prices` answers them. */
export const PriceTable = z.strictObject({
  video_per_second: z
    .strictObject(Object.fromEntries(modelFields) as Record<VideoModel, ReturnType<typeof toModelPrices>>)
    .prefault({}),
  // Decided: images cost 0 unless configured.
  image: z
    .strictObject({
      relight: imagePrice('relight'),
      styleTransfer: imagePrice('style transfer'),
      skinEnhancer: imagePrice('skin enhancement'),
      upscaler: imagePrice('upscaling'),
    })
    .prefault({}),
  is_rec: priceField(10, 'Credits that the recommended prompt of a video adds'),
  // Decided: half the price.
  off_peak: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe('Share of the price that an off-peak video costs, from 0 to 1; the result is rounded up'),
});
