import type { z } from 'zod';
import type { UpscalerRequest } from '../../../../contract/image-requests.js';
import { limits } from '../../../../contract/limits.js';
import { EngineFailure } from '../../engine.js';
import { fields, imagePath, type Operation } from './job.js';
import { knobs, type Row } from './knobs.js';
import { paint } from './paint.js';
import { readPicture, shrink, sizeOf } from './picture.js';
import { scene } from './scene.js';

type Request = z.output<typeof UpscalerRequest>;

// Decided: without a flavor `photo`, and without a factor twice as large.
const flavors: Readonly<Record<NonNullable<Request['flavor']>, Row>> = {
  sublime: { contrast: 1.1, saturation: 1.16, glow: 0.08, detail: 1.12, sharpen: 0.05 },
  photo: {},
  photo_denoiser: { detail: 0.92 },
};

/** Makes a picture larger, and puts back what that costs: edges, detail and grain. */
export const upscaler: Operation = async (job, watch) => {
  const { flavor = 'photo', scale_factor = 2, ...request } = fields<Request>(job);
  const path = imagePath(job, 'image');
  const from = await sizeOf(path);
  const size = { width: from.width * scale_factor, height: from.height * scale_factor };
  if (size.width * size.height > limits.imagePixels) throw tooLarge(from, scale_factor);
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

// Decided: a result holds at most as many pixels as an image that is sent.
function tooLarge({ width, height }: { width: number; height: number }, factor: number): EngineFailure {
  const most = Math.floor(Math.sqrt(limits.imagePixels / (width * height)));
  const sizes = `${width} × ${height} pixels become ${width * factor} × ${height * factor}`;
  const what = most < 2 ? 'this image cannot be made larger' : `take a scale_factor of at most ${most}`;
  return new EngineFailure(`${sizes}, which is more than ${limits.imagePixels / 1e6} megapixels; ${what}.`);
}
