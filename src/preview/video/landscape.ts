import { clamp } from '../image/curves.js';
import { createRandom } from '../image/random.js';
import type { Canvas } from './brush.js';
import { type Film, FRAME_RATE, grade, toFrame } from './frame.js';
import { animatePicture, createStill } from './moving-picture.js';
import { paintClouds, paintRidge, paintShape, paintSky, paintWater } from './scenery.js';
import { readSetting } from './setting.js';
import { shapes } from './shapes.js';
import { computeShotSize, type Shot } from './shot.js';

/** Creates a moving scene from the words of a prompt. */
export function createLandscape(shot: Shot): Film {
  const size = computeShotSize(shot);
  const count = shot.seconds * FRAME_RATE;
  async function* frames() {
    const canvas = paintLandscape(shot);
    const frame = toFrame({ ...canvas, data: new Uint8Array(canvas.data.buffer) });
    // The hour is already as dark as the prompt says.
    grade(frame, { ...shot.tone, exposure: 0.3 * shot.tone.exposure });
    const { place } = readSetting(shot.prompt, shot.seed);
    const from = { ...(await createStill(frame)), shore: place.water ? place.horizon : 1 };
    yield* animatePicture(shot, { from, count, isScene: true });
  }
  return { size, count, frames };
}

function paintLandscape(shot: Shot): Canvas {
  const { isAnime, seed } = shot;
  const { hour, place, subject } = readSetting(shot.prompt, seed);
  const size = computeShotSize(shot);
  const canvas: Canvas = { ...size, channels: 3, data: new Uint8ClampedArray(size.width * size.height * 3) };
  const options = { hour, place, isAnime, seed };
  paintSky(canvas, options);
  if (place.ridge !== 'none') paintClouds(canvas, options);
  for (let ridge = 1; ridge <= place.ridges; ridge++) {
    const near = clamp(ridge / (place.ridges + (place.water ? 1 : 0)));
    paintRidge(canvas, { ...options, seed: seed + (ridge - 1) * 977 }, near);
  }
  if (place.water) paintWater(canvas, place.water, options);
  const next = createRandom(seed ^ 0xac70);
  const x = (0.36 + 0.24 * next()) * size.width;
  const shape = shapes[subject];
  const high = shape.height * Math.min(size.width, size.height);
  const ground = Math.min(0.93, place.horizon + (place.water ? 0.13 : 0.1)) * size.height;
  paintShape(
    canvas,
    shape,
    x,
    shape.at === 'sky' ? (0.3 + 0.12 * next()) * size.height + high / 2 : ground,
    options,
  );
  return canvas;
}
