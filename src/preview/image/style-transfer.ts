import type { z } from 'zod';
import type { StyleTransferRequest } from '../../contract/image-requests.js';
import { type Adjustment, combineAdjustments, scaleAdjustment } from './adjustments.js';
import { evenOutSkin } from './enhance.js';
import { castLight, extractLight } from './light.js';
import { paintPicture } from './paint.js';
import { createPalette, createTexture, matchTone } from './palette.js';
import {
  computeSmallSize,
  getImagePath,
  getRequest,
  type ImageOperation,
  readPicture,
  readSize,
  shrinkPicture,
} from './picture.js';
import { createPlane } from './planes.js';
import { readPrompt } from './prompt.js';
import { analyzeScene, type Scene } from './scene.js';

type StyleTransferFields = z.output<typeof StyleTransferRequest>;
type AdjustmentTable<Name extends string> = Readonly<Record<Name, Adjustment>>;

const ENGINES: AdjustmentTable<StyleTransferFields['engine']> = {
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

const FLAVORS: AdjustmentTable<StyleTransferFields['flavor']> = {
  faithful: {},
  gen_z: { tint: 0.5, saturation: 1.2, blacks: 0.35, warmth: 0.15, contrast: 1.05, grain: 0.1 },
  psychedelia: { rainbow: 0.5, hue: 170, saturation: 1.3, contrast: 1.1, steps: 0.3 },
  detaily: { detail: 1.65, texture: 1.5, sharpen: 0.2 },
  clear: { texture: 0.1, contrast: 1.08, whites: 0.3, detail: 0.95 },
  donotstyle: { style: 0, texture: 0 },
  donotstyle_sharp: { style: 0, texture: 0, detail: 1.2, sharpen: 0.5 },
};

const PORTRAITS: AdjustmentTable<StyleTransferFields['portrait_style']> = {
  standard: {},
  pop: { saturation: 1.22, contrast: 1.1, vignette: 0.3 },
  super_pop: { saturation: 1.5, contrast: 1.24, vignette: 0.6, glow: 0.12 },
};

const BEAUTIFYING = { none: 0, beautify_face: 0.5, beautify_face_max: 1 };

/** Transfers palette, tone and texture of another picture, and maintains as much structure as requested. */
export const transferStyle: ImageOperation = async (job, onProgress) => {
  const request = getRequest<StyleTransferFields>(job);
  const picture = await readPicture(getImagePath(job, 'image'));
  const size = computeSmallSize(picture);
  const small = await shrinkPicture(picture, size);
  const scene = analyzeScene(small);
  const referencePath = getImagePath(job, 'reference_image');
  const referenceSmall = await shrinkPicture(
    await readPicture(referencePath, { size: computeSmallSize(await readSize(referencePath)) }),
  );
  const reference = analyzeScene(referenceSmall);
  const structure = request.structure_strength / 100;
  const amount = request.style_strength / 100;
  const all = combineAdjustments(
    scaleAdjustment(ENGINES[request.engine], 0.35 + 0.65 * amount),
    FLAVORS[request.flavor],
    request.is_portrait ? PORTRAITS[request.portrait_style] : {},
    ...readPrompt(request.prompt).adjustments,
    { detail: 0.45 + 0.9 * structure },
  );
  const style = amount * all.style;
  const seed = request.fixed_generation ? 1 : job.seed;
  const composition = castLight(scene, extractLight(await shrinkPicture(referenceSmall, size), 1.6), {
    adjustments: all,
    strength: style * 0.45 * (1 - structure),
    background: 1,
    seed,
  });
  const face = BEAUTIFYING[(request.is_portrait && request.portrait_beautifier) || 'none'];
  const lit = face > 0 ? evenOutSkin(scene, face * 0.8) : undefined;
  await paintPicture(
    picture,
    {
      adjustments: all,
      scene,
      light: lit ? composition.light.map((value, at) => value + (lit[at] as number)) : composition.light,
      tone: matchTone(scene, reference, style * 0.75),
      palette: createPalette(small, referenceSmall, style),
      reach: createPlane(
        size,
        (at) => 0.9 - (request.is_portrait ? 0.65 : 0.42) * (scene.skin[at] as number),
      ),
      detail: createPlane(size, (at) => 1 - 0.75 * face * (scene.skin[at] as number)),
      texture: createTexture(
        reference,
        computeTextureScale(picture, scene),
        all.texture * style * (1 - 0.85 * structure),
      ),
      seed,
    },
    onProgress,
  );
  return { picture, sharpen: all.sharpen };
};

/** Makes a texture as coarse on a large picture as on a small one. */
function computeTextureScale(picture: { readonly width: number }, { size }: Scene): number {
  return Math.max(1, picture.width / size.width);
}
