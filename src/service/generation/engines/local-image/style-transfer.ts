import type { z } from 'zod';
import type { StyleTransferRequest } from '../../../../contract/image-requests.js';
import { fields, imagePath, type Operation } from './job.js';
import { knobs, type Row, scaled } from './knobs.js';
import { fall, lightOf } from './light.js';
import { paint } from './paint.js';
import { paletteOf, textureOf, toneTo } from './palette.js';
import { readPicture, shrink, sizeOf, smallSize } from './picture.js';
import { plane } from './planes.js';
import { readPrompt } from './prompt.js';
import { type Scene, scene } from './scene.js';
import { evened } from './skin-enhancer.js';

type Request = z.output<typeof StyleTransferRequest>;
type Rows<Name extends string> = Readonly<Record<Name, Row>>;

const engines: Rows<Request['engine']> = {
  balanced: {},
  definio: { detail: 1.5, contrast: 1.1, sharpen: 0.2 },
  illusio: { glow: 0.3, split: 0.5, saturation: 1.15, texture: 1.3 },
  '3d_cartoon': { detail: 0.25, saturation: 1.35, glow: 0.18, gamma: 1.08, relief: 0.8, texture: 0.2 },
  colorful_anime: { detail: 0.25, saturation: 1.3, steps: 0.7, lines: 0.6, texture: 0.2 },
  caricature: { detail: 0.6, lines: 1.1, contrast: 1.3, saturation: 1.2, steps: 0.45 },
  real: { style: 0.7, texture: 0.3, saturation: 0.95, grain: 0.1 },
  super_real: { style: 0.6, texture: 0.2, detail: 1.3, sharpen: 0.3, grain: 0.16, contrast: 1.05 },
  softy: { detail: 0.65, contrast: 0.88, glow: 0.3, blacks: 0.12 },
};

const flavors: Rows<Request['flavor']> = {
  faithful: {},
  gen_z: { tint: 0.5, saturation: 1.2, blacks: 0.35, warmth: 0.15, contrast: 1.05, grain: 0.1 },
  psychedelia: { rainbow: 0.5, hue: 170, saturation: 1.3, contrast: 1.1, steps: 0.3 },
  detaily: { detail: 1.65, texture: 1.5, sharpen: 0.2 },
  clear: { texture: 0.1, contrast: 1.08, whites: 0.3, detail: 0.95 },
  donotstyle: { style: 0, texture: 0 },
  donotstyle_sharp: { style: 0, texture: 0, detail: 1.2, sharpen: 0.5 },
};

const portraits: Rows<Request['portrait_style']> = {
  standard: {},
  pop: { saturation: 1.22, contrast: 1.1, vignette: 0.3 },
  super_pop: { saturation: 1.5, contrast: 1.24, vignette: 0.6, glow: 0.12 },
};

const beautifying = { none: 0, beautify_face: 0.5, beautify_face_max: 1 };

/** Gives a picture the palette, the tone and the texture of another, and keeps as much of its structure as asked. */
export const styleTransfer: Operation = async (job, watch) => {
  const request = fields<Request>(job);
  const picture = await readPicture(imagePath(job, 'image'));
  const size = smallSize(picture);
  const small = await shrink(picture, size);
  const here = scene(small);
  const referencePath = imagePath(job, 'reference_image');
  const referenceSmall = await shrink(
    await readPicture(referencePath, { size: smallSize(await sizeOf(referencePath)) }),
  );
  const reference = scene(referenceSmall);
  const structure = request.structure_strength / 100;
  const amount = request.style_strength / 100;
  const all = knobs(
    scaled(engines[request.engine], 0.35 + 0.65 * amount),
    flavors[request.flavor],
    request.is_portrait ? portraits[request.portrait_style] : {},
    ...readPrompt(request.prompt).rows,
    { detail: 0.45 + 0.9 * structure },
  );
  const style = amount * all.style;
  const seed = request.fixed_generation ? 1 : job.seed;
  const composition = fall(here, lightOf(await shrink(referenceSmall, size), 1.6), {
    knobs: all,
    strength: style * 0.45 * (1 - structure),
    background: 1,
    seed,
  });
  const face = beautifying[(request.is_portrait && request.portrait_beautifier) || 'none'];
  const lit = face > 0 ? evened(here, face * 0.8) : undefined;
  await paint(
    picture,
    {
      knobs: all,
      scene: here,
      light: lit ? composition.light.map((value, at) => value + (lit[at] as number)) : composition.light,
      tone: toneTo(here, reference, style * 0.75),
      palette: paletteOf(small, referenceSmall, style),
      reach: plane(size, (at) => 0.9 - (request.is_portrait ? 0.65 : 0.42) * (here.skin[at] as number)),
      detail: plane(size, (at) => 1 - 0.75 * face * (here.skin[at] as number)),
      texture: textureOf(
        reference,
        textureScale(picture, here),
        all.texture * style * (1 - 0.85 * structure),
      ),
      seed,
    },
    watch,
  );
  return { picture, sharpen: all.sharpen };
};

/** A texture is as coarse on a large picture as on a small one. */
function textureScale(picture: { readonly width: number }, { size }: Scene): number {
  return Math.max(1, picture.width / size.width);
}
