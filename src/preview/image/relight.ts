import type { z } from 'zod';
import type { AdvancedSettings, RelightRequest } from '../../contract/image-requests.js';
import { type Adjustment, type Adjustments, combineAdjustments } from './adjustments.js';
import { castLight, createLamp, extractLight, type Light } from './light.js';
import { paintPicture } from './paint.js';
import {
  computeSmallSize,
  getImagePath,
  getRequest,
  type ImageJob,
  type ImageOperation,
  type Picture,
  readPicture,
  shrinkPicture,
} from './picture.js';
import { computeMean, createPlane, type Size } from './planes.js';
import { readPrompt } from './prompt.js';
import { analyzeScene, type Scene } from './scene.js';

type RelightFields = z.output<typeof RelightRequest>;
type RelightSettings = Partial<z.output<typeof AdvancedSettings>>;
type AdjustmentTable<Name extends string> = Readonly<Record<Name, Adjustment>>;

const STYLES: AdjustmentTable<RelightFields['style']> = {
  standard: {},
  darker_but_realistic: { exposure: -0.75, contrast: 1.08, saturation: 0.94 },
  clean: { exposure: 0.12, contrast: 1.05, blacks: 0.1, whites: 0.35, saturation: 0.9, sharpen: 0.12 },
  smooth: { detail: 0.5, contrast: 0.92, spread: 1.7, glow: 0.28 },
  brighter: { exposure: 0.6, gamma: 1.06, whites: 0.1 },
  contrasted_n_hdr: { detail: 1.75, flatten: 0.45, contrast: 1.22, saturation: 1.2, sharpen: 0.15 },
  just_composition: { colour: 0.1, light: 0.85, flatten: 0.4, saturation: 0.72, spread: 1.4 },
};

/** For `automatic` see `chooseEngine`. */
const ENGINES: AdjustmentTable<Exclude<NonNullable<RelightSettings['engine']>, 'automatic'>> = {
  balanced: {},
  cool: { warmth: -0.5, contrast: 1.05 },
  real: { light: 0.85, flatten: -0.15, saturation: 0.95, grain: 0.12, detail: 1.1 },
  illusio: { glow: 0.3, relief: 0.5, saturation: 1.15, split: 0.35 },
  fairy: { glow: 0.5, tint: 0.4, exposure: 0.2, contrast: 0.9, saturation: 1.1 },
  colorful_anime: { saturation: 1.35, detail: 0.3, steps: 0.6, lines: 0.5, contrast: 1.08 },
  hard_transform: { light: 1.5, spread: 0.6, flatten: 0.5, contrast: 1.15, relief: 0.7 },
  softy: { spread: 1.8, contrast: 0.86, glow: 0.25, detail: 0.75, blacks: 0.12 },
};

/** For `automatic` see `chooseStrength`. */
const STRENGTHS: AdjustmentTable<Exclude<NonNullable<RelightSettings['transfer_light_a']>, 'automatic'>> = {
  low: { light: 0.45, colour: 0.5 },
  medium: { light: 0.72, colour: 0.75 },
  normal: {},
  high: { light: 1.35, colour: 1.25 },
  high_on_faces: { light: 1.05, skin: 0.9 },
};

const BLENDINGS: AdjustmentTable<NonNullable<RelightSettings['transfer_light_b']>> = {
  automatic: {},
  composition: { spread: 2, relief: 0.3 },
  straight: { spread: 0.35, flatten: 0.1 },
  smooth_in: { inside: 0.5, outside: -0.4, spread: 1.5 },
  smooth_out: { inside: -0.4, outside: 0.5, spread: 1.5 },
  smooth_both: { spread: 2.6, inside: 0.2, outside: 0.2 },
  reverse_both: { light: -0.85 },
  soft_in: { inside: 0.3, outside: -0.6, contrast: 0.94, glow: 0.12 },
  soft_out: { inside: -0.6, outside: 0.3, contrast: 0.94, glow: 0.12 },
  soft_mid: { midtones: 0.9, contrast: 0.94 },
  strong_mid: { midtones: 1.6, light: 1.25, contrast: 1.08 },
  style_shift: { colour: 1.9, light: 0.8, saturation: 1.1 },
  strong_shift: { colour: 2.3, light: 1.3, flatten: 0.25 },
};

/** Transfers the light of a map, a reference or a prompt to a picture. */
export const relight: ImageOperation = async (job, onProgress) => {
  const request = getRequest<RelightFields>(job);
  const settings: RelightSettings = request.advanced_settings ?? {};
  const picture = await readPicture(getImagePath(job, 'image'));
  const size = computeSmallSize(picture);
  const scene = analyzeScene(await shrinkPicture(picture, size));
  const prompt = readPrompt(request.prompt);
  const map = await readLightMap(job, size);
  const amount = request.light_transfer_strength / 100;
  const strength = request.interpolate_from_original ? 1 : amount;
  const spread = combineAdjustments(
    STYLES[request.style],
    chooseEngine(settings, map),
    getBlending(settings),
  ).spread;
  const light = map ? extractLight(map, spread) : createLamp(prompt.from ?? [-0.8, -0.6], size);
  const all = combineAdjustments(
    STYLES[request.style],
    chooseEngine(settings, map),
    settings.transfer_light_a && settings.transfer_light_a !== 'automatic'
      ? STRENGTHS[settings.transfer_light_a]
      : chooseStrength(light),
    getBlending(settings),
    ...prompt.adjustments,
    readSliders(settings),
    request.preserve_details ? {} : { detail: 0.4 },
  );
  // Decided: fixed_generation removes chance from a picture; without it each task has its own seed.
  const seed = settings.fixed_generation ? 1 : job.seed;
  const relit = castLight(scene, light, {
    adjustments: all,
    strength,
    background: request.change_background ? 1.15 : 0.3,
    seed,
  });
  const behind = request.change_background ? lightBackground(scene, light, all, strength, map) : undefined;
  await paintPicture(
    picture,
    {
      adjustments: all,
      scene,
      light: behind ? relit.light.map((value, at) => value + (behind[at] as number)) : relit.light,
      colour: relit.colour,
      share: request.interpolate_from_original ? amount : 1,
      seed,
    },
    onProgress,
  );
  return { picture, sharpen: all.sharpen };
};

async function readLightMap(job: ImageJob, size: Size): Promise<Picture | undefined> {
  const field = ['transfer_light_from_lightmap', 'transfer_light_from_reference_image'].find(
    (name) => job.images[name],
  );
  if (!field) return undefined;
  return shrinkPicture(await readPicture(getImagePath(job, field), { size: computeSmallSize(size) }), size);
}

const getBlending = (settings: RelightSettings): Adjustment =>
  BLENDINGS[settings.transfer_light_b ?? 'automatic'];

// Decided: by default, and with `automatic`, a coloured light is kept from staining and a grey one gets
// relief.
function chooseEngine({ engine: name = 'automatic' }: RelightSettings, map: Picture | undefined): Adjustment {
  if (name !== 'automatic') return ENGINES[name];
  const coloured = map ? Math.min(1, measureChroma(map) * 6) : 0;
  return { relief: 0.25 * (1 - coloured), colour: 1 - 0.25 * coloured, contrast: 1.03 };
}

function measureChroma({ data }: Picture): number {
  let sum = 0;
  for (let at = 0; at < data.length; at += 3) {
    sum += Math.abs((data[at] as number) - (data[at + 2] as number)) / 255;
  }
  return (sum * 3) / data.length;
}

/** A hard light is weakened, a flat one strengthened. */
function chooseStrength({ stops }: Light): Adjustment {
  const spread = Math.sqrt(computeMean(stops.map((value) => value * value)));
  return { light: Math.min(1.2, Math.max(0.8, 1.05 / (spread + 0.1))) };
}

/** Reads the five numbers, of which 50, the default of each, changes nothing. */
function readSliders({
  blacks = 50,
  whites = 50,
  brightness = 50,
  contrast = 50,
  saturation = 50,
}: RelightSettings): Adjustment {
  const from = (value: number) => (value - 50) / 50;
  return {
    blacks: from(blacks),
    whites: from(whites),
    exposure: from(brightness) * 1.1,
    contrast: 1.6 ** from(contrast),
    saturation: saturation <= 50 ? saturation / 50 : 1 + from(saturation),
  };
}

/** Gives the background part of the brightness of the light, and dims it a little. */
function lightBackground(
  scene: Scene,
  light: Light,
  { light: gain }: Adjustments,
  strength: number,
  map?: Picture,
) {
  const middle = computeMean(scene.base);
  return createPlane(scene.size, (at) => {
    const behind = 1 - (scene.subject[at] as number);
    const own = (middle - (scene.base[at] as number)) * 0.3;
    return behind * strength * (own + (map ? 0.3 * gain * (light.stops[at] as number) : -0.2));
  });
}
