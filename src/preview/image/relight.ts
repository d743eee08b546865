import type { Blend } from 'sharp';
import type { z } from 'zod';
import type { AdvancedSettings, RelightRequest } from '../../contract/image-requests.js';
import { createGrain, createLayer, drawSmall, readSmall } from './layers.js';
import { addLooks, type ImageOperation, type Look } from './look.js';
import { type Picture, readPicture } from './picture.js';
import { createRandom } from './random.js';

type Request = z.output<typeof RelightRequest>;
type Settings = Partial<z.output<typeof AdvancedSettings>>;
const STYLES: Readonly<Record<Request['style'], Look>> = {
  standard: {},
  darker_but_realistic: { brightness: -0.47, saturation: -0.1 },
  clean: { brightness: 0.08, contrast: 0.1, saturation: -0.12, sharpen: 1 },
  smooth: { blur: 2.5, contrast: -0.1 },
  brighter: { brightness: 0.38 },
  contrasted_n_hdr: { local: 3, contrast: 0.16, saturation: 0.26 },
  just_composition: { saturation: -1.15, contrast: -0.15 },
};

/** How strong the light is. */
const STRENGTHS = { automatic: 0.85, low: 0.4, medium: 0.6, normal: 0.75, high: 1, high_on_faces: 0.95 };

/** How the light is laid over, how soft it is in its own pixels, and how much of it; less than 0: reversed. */
const BLENDINGS: Readonly<
  Record<NonNullable<Settings['transfer_light_b']>, readonly [blend: Blend, blur: number, share: number]>
> = {
  automatic: ['soft-light', 3, 1],
  composition: ['overlay', 8, 1],
  straight: ['hard-light', 0.5, 0.8],
  smooth_in: ['soft-light', 6, 1],
  smooth_out: ['soft-light', 10, 1],
  smooth_both: ['soft-light', 16, 1],
  reverse_both: ['soft-light', 3, -1],
  soft_in: ['soft-light', 6, 0.7],
  soft_out: ['soft-light', 10, 0.7],
  soft_mid: ['overlay', 5, 0.6],
  strong_mid: ['overlay', 3, 1],
  style_shift: ['hard-light', 6, 0.7],
  strong_shift: ['hard-light', 3, 1],
};

/** Lays the light of a map or a reference, or a gradient of light, over a picture. */
export const relight: ImageOperation<Request> = async ({ request, find, image, seed: ownSeed }) => {
  const settings: Settings = request.advanced_settings ?? {};
  const isMix = request.interpolate_from_original;
  const picture = await readPicture(image);
  // Decided: fixed_generation removes chance from a picture; without it each task has its own seed.
  const seed = settings.fixed_generation ? 1 : ownSeed;
  const amount = request.light_transfer_strength / 100;
  const [blend, blur, share] = BLENDINGS[settings.transfer_light_b ?? 'automatic'];
  const strength =
    STRENGTHS[settings.transfer_light_a ?? 'automatic'] * share * (isMix ? amount : 0.25 + 0.75 * amount);
  const path = find('transfer_light_from_lightmap') ?? find('transfer_light_from_reference_image');
  const light = path === undefined ? drawLamp(seed) : await readSmall(path);
  const shaped = shapeLight(light, strength, request.change_background);
  const details: Look = request.preserve_details ? {} : { blur: 1.5 };
  return {
    picture,
    // Towards the original, everything is less, not only the light.
    look: addLooks(isMix ? amount : 1, STYLES[request.style], details, readSliders(settings)),
    layers:
      isMix && amount === 0
        ? []
        : [await createLayer(shaped, picture, { blend, blur }), createGrain(picture, 0.04, seed)],
  };
};

/** A gradient of warm light from one side. */
function drawLamp(seed: number): Picture {
  const angle = createRandom(seed)() * 2 * Math.PI;
  return drawSmall((at, x, y) => {
    const near = (x - 0.5) * Math.cos(angle) + (y - 0.5) * Math.sin(angle);
    return 128 + 150 * near + (1 - (at % 3)) * (12 + 10 * near);
  });
}

const GREY = 128;

/**
 * Moves a light towards grey, which changes nothing.
 * @param strength 0: all grey; less: reversed
 * @param isWide whether the border is lit as the middle is
 */
function shapeLight({ data }: Picture, strength: number, isWide: boolean): Picture {
  return drawSmall((at, x, y) => {
    const near = isWide ? 1 : Math.max(0, Math.min(1, 2.2 - 4 * Math.hypot(x - 0.5, y - 0.5)));
    return Math.round(GREY + ((data[at] as number) - GREY) * strength * near);
  });
}

/** Reads the five numbers, of which 50, the default of each, changes nothing. */
function readSliders(settings: Settings): Look {
  const from = (value = 50) => (value - 50) / 50;
  const [blacks, whites] = [from(settings.blacks), from(settings.whites)];
  const saturation = from(settings.saturation);
  return {
    brightness: 0.85 * from(settings.brightness),
    // Of black and white, one is moved and the other stays.
    contrast: 0.77 * from(settings.contrast) + 0.35 * (whites - blacks),
    lift: 32 * (blacks + whites),
    saturation: saturation === -1 ? -20 : saturation * (saturation < 0 ? 2 : 1),
  };
}
