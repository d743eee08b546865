import { z } from 'zod';
import type { Resolution, VideoModel } from '../../contract/video-models.js';

const price = (standard = 0) => z.number().min(0).max(1_000_000).default(standard);
const wholePrice = () => z.int().min(0).max(1_000_000).default(0);

// Decided: credits per second, by model and resolution, where the configuration has no others.
const standard = {
  'vvq3-pro': { '540p': 4, '720p': 6, '1080p': 10, '2K': 16 },
  'vvq2-pro-fast': { '720p': 3, '1080p': 6 },
  'vvq2-pro': { '540p': 3, '720p': 5, '1080p': 9 },
  'vvq2-turbo': { '540p': 2, '720p': 4, '1080p': 7 },
  vvq1: { '1080p': 6 },
  'vvq1-classic': { '1080p': 6 },
  'vv2.0': { '360p': 1, '720p': 3, '1080p': 6 },
} satisfies Record<VideoModel, Partial<Record<Resolution, number>>>;

function ofModel(prices: Readonly<Record<string, number>>) {
  const fields = Object.entries(prices).map(([resolution, credits]) => [resolution, price(credits)]);
  return z.strictObject(Object.fromEntries(fields) as Record<string, ReturnType<typeof price>>).prefault({});
}

const models = Object.entries(standard).map(([model, prices]) => [model, ofModel(prices)]);

/** What tasks cost, in credits; in the form that `video.prices` answers. */
export const PriceTable = z.strictObject({
  video_per_second: z
    .strictObject(Object.fromEntries(models) as Record<VideoModel, ReturnType<typeof ofModel>>)
    .prefault({}),
  // Decided: images cost 0 unless configured.
  image: z
    .strictObject({
      relight: wholePrice(),
      styleTransfer: wholePrice(),
      skinEnhancer: wholePrice(),
      upscaler: wholePrice(),
    })
    .prefault({}),
  is_rec: price(10),
  // Decided: half the price.
  off_peak: z.number().min(0).max(1).default(0.5),
});
