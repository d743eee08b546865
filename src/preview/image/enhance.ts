import type { z } from 'zod';
import type { SkinEnhancerRequest, UpscalerRequest } from '../../contract/image-requests.js';
import { type Adjustment, combineAdjustments } from './adjustments.js';
import { paintPicture } from './paint.js';
import {
  getImagePath,
  getRequest,
  type ImageOperation,
  readPicture,
  readSize,
  shrinkPicture,
} from './picture.js';
import { blur, createPlane } from './planes.js';
import { analyzeScene, type Scene } from './scene.js';

/** Evens out blotched skin, and keeps eyes, hair and outlines. */
export const enhanceSkin: ImageOperation = async (job, onProgress) => {
  const request = getRequest<z.output<typeof SkinEnhancerRequest>>(job);
  const picture = await readPicture(getImagePath(job, 'image'));
  const scene = analyzeScene(await shrinkPicture(picture));
  const grain = request.smart_grain / 100;
  const { skin, size } = scene;
  const all = combineAdjustments({ grain, saturation: 1.03, glow: 0.04 });
  await paintPicture(
    picture,
    {
      adjustments: all,
      scene,
      detail: createPlane(size, (at) => 1 - 0.6 * (skin[at] as number)),
      light: evenOutSkin(scene),
      seed: job.seed,
    },
    onProgress,
  );
  return { picture, sharpen: request.sharpen / 100 };
};

/** The light that moves skin towards the brightness around it, and a little further. */
export function evenOutSkin({ base, skin, size }: Scene, strength = 0.45) {
  const radius = Math.max(size.width, size.height) * 0.03;
  const held = blur(skin, size, radius);
  const around = blur(
    createPlane(size, (at) => (base[at] as number) * (skin[at] as number)),
    size,
    radius,
  );
  return createPlane(size, (at) => {
    const part = skin[at] as number;
    const calm = (around[at] as number) / ((held[at] as number) + 0.01) - (base[at] as number);
    return part * (strength * Math.max(-0.5, Math.min(0.7, calm)) + 0.22 * strength);
  });
}

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
