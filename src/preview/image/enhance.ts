import type { z } from 'zod';
import type { SkinEnhancerRequest, UpscalerRequest } from '../../contract/image-requests.js';
import { createGrain } from './layers.js';
import type { ImageOperation } from './look.js';
import { readPicture, readSize } from './picture.js';

/** Evens out small differences. */
export const enhanceSkin: ImageOperation<z.output<typeof SkinEnhancerRequest>> = async (job) => {
  const { request, image, seed } = job;
  const picture = await readPicture(image);
  return {
    picture,
    look: { median: 1, blur: 0.6, brightness: 0.03, sharpen: (request.sharpen / 100) * 3 },
    layers: [createGrain(picture, request.smart_grain / 100, seed)],
  };
};

/** Enlarges a picture. */
export const upscale: ImageOperation<z.output<typeof UpscalerRequest>> = async ({ request, image, seed }) => {
  // Decided: the default flavor is `photo`.
  const { flavor = 'photo', scale_factor } = request;
  const from = await readSize(image);
  const size = { width: from.width * scale_factor, height: from.height * scale_factor };
  const picture = await readPicture(image, { size });
  const detail = request.ultra_detail / 100;
  const isSublime = flavor === 'sublime';
  return {
    picture,
    look: {
      median: flavor === 'photo_denoiser' ? 1 : 0,
      sharpen: (request.sharpen / 100) * 2 + detail,
      contrast: 0.14 * detail + (isSublime ? 0.11 : 0),
      saturation: isSublime ? 0.24 : 0,
    },
    layers: [createGrain(picture, (request.smart_grain / 100) * 0.8, seed)],
  };
};
