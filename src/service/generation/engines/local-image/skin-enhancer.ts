import type { z } from 'zod';
import type { SkinEnhancerRequest } from '../../../../contract/image-requests.js';
import { fields, imagePath, type Operation } from './job.js';
import { knobs } from './knobs.js';
import { paint } from './paint.js';
import { readPicture, shrink } from './picture.js';
import { blur, plane } from './planes.js';
import { type Scene, scene } from './scene.js';

/** Makes skin even where it is blotched, and keeps eyes, hair and outlines as they are. */
export const skinEnhancer: Operation = async (job, watch) => {
  const request = fields<z.output<typeof SkinEnhancerRequest>>(job);
  const picture = await readPicture(imagePath(job, 'image'));
  const here = scene(await shrink(picture));
  const grain = request.smart_grain / 100;
  const { skin, size } = here;
  const all = knobs({ grain, saturation: 1.03, glow: 0.04 });
  await paint(
    picture,
    {
      knobs: all,
      scene: here,
      detail: plane(size, (at) => 1 - 0.6 * (skin[at] as number)),
      light: evened(here),
      seed: job.seed,
    },
    watch,
  );
  return { picture, sharpen: request.sharpen / 100 };
};

/** Lights skin towards the brightness around it, and a little more. */
export function evened({ base, skin, size }: Scene, strength = 0.45) {
  const radius = Math.max(size.width, size.height) * 0.03;
  const held = blur(skin, size, radius);
  const around = blur(
    plane(size, (at) => (base[at] as number) * (skin[at] as number)),
    size,
    radius,
  );
  return plane(size, (at) => {
    const part = skin[at] as number;
    const calm = (around[at] as number) / ((held[at] as number) + 0.01) - (base[at] as number);
    return part * (strength * Math.max(-0.5, Math.min(0.7, calm)) + 0.22 * strength);
  });
}
