import type { z } from 'zod';
import type { UpscalerRequest } from '../../../../contract/image-requests.js';
import { fields, imagePath, type Operation } from './job.js';
import { knobs, type Row } from './knobs.js';
import { paint } from './paint.js';
import { readPicture, shrink, sizeOf } from './picture.js';
import { scene } from './scene.js';

type Request = z.output<typeof UpscalerRequest>;

// Decided: without a flavor `photo`.
const flavors: Readonly<Record<NonNullable<Request['flavor']>, Row>> = {
  sublime: { contrast: 1.1, saturation: 1.16, glow: 0.08, detail: 1.12, sharpen: 0.05 },
  photo: {},
  photo_denoiser: { detail: 0.92 },
};

/** Makes a picture larger, and puts back what that costs: edges, detail and grain. */
export const upscaler: Operation = async (job, watch) => {
  const { flavor = 'photo', scale_factor, ...request } = fields<Request>(job);
  const path = imagePath(job, 'image');
  const from = await sizeOf(path);
  const size = { width: from.width * scale_factor, height: from.height * scale_factor };
  const picture = await readPicture(path, { size, denoised: flavor === 'photo_denoiser' });
  const here = scene(await shrink(picture));
  const extra = request.ultra_detail / 100;
  const all = knobs(flavors[flavor], {
    grain: (request.smart_grain / 100) * 0.7,
    detail: 1 + 0.7 * extra,
    sharpen: 0.7 * (request.sharpen / 100) + 0.3 * extra,
  });
  await paint(picture, { knobs: all, scene: here, seed: job.seed }, watch);
  return { picture, sharpen: all.sharpen };
};
