import type { z } from 'zod';
import type { UpscalerRequest } from '../../contract/image-requests.js';
import { type Adjustment, combineAdjustments } from './adjustments.js';
import { getImagePath, getRequest, type ImageOperation } from './job.js';
import { paintPicture } from './paint.js';
import { readPicture, readSize, shrinkPicture } from './picture.js';
import { analyzeScene } from './scene.js';

type UpscalerFields = z.output<typeof UpscalerRequest>;

// Decided: the default flavor is `photo`.
const FLAVORS: Readonly<Record<NonNullable<UpscalerFields['flavor']>, Adjustment>> = {
  sublime: { contrast: 1.1, saturation: 1.16, glow: 0.08, detail: 1.12, sharpen: 0.05 },
  photo: {},
  photo_denoiser: { detail: 0.92 },
};

/** Enlarges a picture, and restores edges, detail and grain. */
export const upscale: ImageOperation = async (job, onProgress) => {
  const { flavor = 'photo', scale_factor, ...request } = getRequest<UpscalerFields>(job);
  const path = getImagePath(job, 'image');
  const from = await readSize(path);
  const size = { width: from.width * scale_factor, height: from.height * scale_factor };
  const picture = await readPicture(path, { size, denoised: flavor === 'photo_denoiser' });
  const scene = analyzeScene(await shrinkPicture(picture));
  const extra = request.ultra_detail / 100;
  const all = combineAdjustments(FLAVORS[flavor], {
    grain: (request.smart_grain / 100) * 0.7,
    detail: 1 + 0.7 * extra,
    sharpen: 0.7 * (request.sharpen / 100) + 0.3 * extra,
  });
  await paintPicture(picture, { adjustments: all, scene, seed: job.seed }, onProgress);
  return { picture, sharpen: all.sharpen };
};
