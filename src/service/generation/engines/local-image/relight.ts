import type { z } from 'zod';
import { AdvancedSettings, type RelightRequest } from '../../../../contract/image-requests.js';
import { fields, imagePath, type LocalJob, type Operation } from './job.js';
import { type Knobs, knobs, type Row } from './knobs.js';
import { fall, type Light, lampFrom, lightOf } from './light.js';
import { paint } from './paint.js';
import { type Picture, readPicture, shrink, smallSize } from './picture.js';
import { mean, plane, type Size } from './planes.js';
import { readPrompt } from './prompt.js';
import { type Scene, scene } from './scene.js';

type Request = z.output<typeof RelightRequest>;
type Settings = z.output<typeof AdvancedSettings>;
type Rows<Name extends string> = Readonly<Record<Name, Row>>;

const styles: Rows<Request['style']> = {
  standard: {},
  darker_but_realistic: { exposure: -0.75, contrast: 1.08, saturation: 0.94 },
  clean: { exposure: 0.12, contrast: 1.05, blacks: 0.1, whites: 0.35, saturation: 0.9, sharpen: 0.12 },
  smooth: { detail: 0.5, contrast: 0.92, spread: 1.7, glow: 0.28 },
  brighter: { exposure: 0.6, gamma: 1.06, whites: 0.1 },
  contrasted_n_hdr: { detail: 1.75, flatten: 0.45, contrast: 1.22, saturation: 1.2, sharpen: 0.15 },
  just_composition: { colour: 0.1, light: 0.85, flatten: 0.4, saturation: 0.72, spread: 1.4 },
};

/** `automatic` is what the light itself asks for: see `automaticEngine`. */
const engines: Rows<Exclude<NonNullable<Settings['engine']>, 'automatic'>> = {
  balanced: {},
  cool: { warmth: -0.5, contrast: 1.05 },
  real: { light: 0.85, flatten: -0.15, saturation: 0.95, grain: 0.12, detail: 1.1 },
  illusio: { glow: 0.3, relief: 0.5, saturation: 1.15, split: 0.35 },
  fairy: { glow: 0.5, tint: 0.4, exposure: 0.2, contrast: 0.9, saturation: 1.1 },
  colorful_anime: { saturation: 1.35, detail: 0.3, steps: 0.6, lines: 0.5, contrast: 1.08 },
  hard_transform: { light: 1.5, spread: 0.6, flatten: 0.5, contrast: 1.15, relief: 0.7 },
  softy: { spread: 1.8, contrast: 0.86, glow: 0.25, detail: 0.75, blacks: 0.12 },
};

/** `automatic` depends on how much light there is to move: see `automaticStrength`. */
const strengths: Rows<Exclude<NonNullable<Settings['transfer_light_a']>, 'automatic'>> = {
  low: { light: 0.45, colour: 0.5 },
  medium: { light: 0.72, colour: 0.75 },
  normal: {},
  high: { light: 1.35, colour: 1.25 },
  high_on_faces: { light: 1.05, skin: 0.9 },
};

const blendings: Rows<NonNullable<Settings['transfer_light_b']>> = {
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

/** Moves the light of a map, a reference or a prompt onto a picture. */
export const relight: Operation = async (job, watch) => {
  const request = fields<Request>(job);
  const settings = AdvancedSettings.parse(request.advanced_settings ?? {});
  const picture = await readPicture(imagePath(job, 'image'));
  const size = smallSize(picture);
  const here = scene(await shrink(picture, size));
  const prompt = readPrompt(request.prompt);
  const map = await mapOf(job, size);
  const amount = request.light_transfer_strength / 100;
  const strength = request.interpolate_from_original ? 1 : amount;
  const spread = knobs(styles[request.style], engine(settings, map), blending(settings)).spread;
  const light = map ? lightOf(map, spread) : lampFrom(prompt.from ?? [-0.8, -0.6], size);
  const all = knobs(
    styles[request.style],
    engine(settings, map),
    settings.transfer_light_a && settings.transfer_light_a !== 'automatic'
      ? strengths[settings.transfer_light_a]
      : automaticStrength(light),
    blending(settings),
    ...prompt.rows,
    sliders(settings),
    request.preserve_details ? {} : { detail: 0.4 },
  );
  // Decided: fixed_generation takes the chance out of a picture; without it each task has a seed of its own.
  const seed = settings.fixed_generation ? 1 : job.seed;
  const relit = fall(here, light, {
    knobs: all,
    strength,
    background: request.change_background ? 1.15 : 0.3,
    seed,
  });
  const behind = request.change_background ? newBackground(here, light, all, strength, map) : undefined;
  await paint(
    picture,
    {
      knobs: all,
      scene: here,
      light: behind ? relit.light.map((value, at) => value + (behind[at] as number)) : relit.light,
      colour: relit.colour,
      share: request.interpolate_from_original ? amount : 1,
      seed,
    },
    watch,
  );
  return { picture, sharpen: all.sharpen };
};

async function mapOf(job: LocalJob, size: Size): Promise<Picture | undefined> {
  const field = ['transfer_light_from_lightmap', 'transfer_light_from_reference_image'].find(
    (name) => job.images[name],
  );
  if (!field) return undefined;
  return shrink(await readPicture(imagePath(job, field), { size: smallSize(size) }), size);
}

const blending = (settings: Settings): Row => blendings[settings.transfer_light_b ?? 'automatic'];

// Decided: without an engine, or with `automatic`, a coloured light is kept from staining and a grey one is given relief.
function engine({ engine: name = 'automatic' }: Settings, map: Picture | undefined): Row {
  if (name !== 'automatic') return engines[name];
  const coloured = map ? Math.min(1, chromaOf(map) * 6) : 0;
  return { relief: 0.25 * (1 - coloured), colour: 1 - 0.25 * coloured, contrast: 1.03 };
}

function chromaOf({ data }: Picture): number {
  let sum = 0;
  for (let at = 0; at < data.length; at += 3) {
    sum += Math.abs((data[at] as number) - (data[at + 2] as number)) / 255;
  }
  return (sum * 3) / data.length;
}

/** Less of a hard light, more of a flat one. */
function automaticStrength({ stops }: Light): Row {
  const spread = Math.sqrt(mean(stops.map((value) => value * value)));
  return { light: Math.min(1.2, Math.max(0.8, 1.05 / (spread + 0.1))) };
}

/** The five numbers: 50 changes nothing. */
function sliders({ blacks, whites, brightness, contrast, saturation }: Settings): Row {
  const from = (value: number) => (value - 50) / 50;
  return {
    blacks: from(blacks),
    whites: from(whites),
    exposure: from(brightness) * 1.1,
    contrast: 1.6 ** from(contrast),
    saturation: saturation <= 50 ? saturation / 50 : 1 + from(saturation),
  };
}

/** What is behind takes part in the light's own brightness, and steps back a little. */
function newBackground(here: Scene, light: Light, { light: gain }: Knobs, strength: number, map?: Picture) {
  const middle = mean(here.base);
  return plane(here.size, (at) => {
    const behind = 1 - (here.subject[at] as number);
    const own = (middle - (here.base[at] as number)) * 0.3;
    return behind * strength * (own + (map ? 0.3 * gain * (light.stops[at] as number) : -0.2));
  });
}
