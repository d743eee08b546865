import type { Size } from '../image/planes.js';
import { createRandom } from '../image/random.js';
import { type Film, FRAME_RATE, type Frame, grade, newFrame, toYuv, type Yuv } from './frame.js';
import { type Layer, layOver } from './layer.js';
import { locateOrb, paintClouds, paintRidge, paintSky } from './scenery.js';
import { readSetting, type Setting } from './setting.js';
import { type Shape, shapes } from './shapes.js';
import { computeShotSize, type Shot } from './shot.js';
import { type Pose, paintSprite, stampSprite } from './sprite.js';
import { createParticles } from './weather.js';

/** A layer, and how far it moves per pixel of the camera and by itself. */
interface Depth {
  readonly layer: Layer;
  readonly follows: number;
  /** Pixels per second. */
  readonly drift: number;
}

/** The speed of the camera in short sides per second. */
const GLIDE = 0.045;

/** Creates a moving scene from the words of a prompt. */
export function createLandscape(shot: Shot): Film {
  const size = computeShotSize(shot);
  const count = shot.seconds * FRAME_RATE;
  return { size, count, frames: () => drawScenes(shot, size, count) };
}

function* drawScenes(shot: Shot, size: Size, count: number): Iterable<Frame> {
  const setting = readSetting(shot.prompt, shot.seed);
  const stage = buildStage(shot, setting, size);
  const frame = newFrame(size);
  for (let index = 0; index < count; index++) {
    // As in hand-drawn films, each picture is held for two frames.
    const held = shot.isAnime ? index - (index % 2) : index;
    if (held === index) stage(frame, held / FRAME_RATE);
    yield frame;
  }
}

type Stage = (frame: Frame, time: number) => void;

function buildStage(shot: Shot, setting: Setting, size: Size): Stage {
  const { seed, isAnime, model, movement } = shot;
  const { hour, place } = setting;
  const short = Math.min(size.width, size.height);
  const pace = model.pace * movement;
  const sky = { hour, horizon: Math.min(place.horizon, 1) * size.height, isAnime, seed };
  const speed = short * GLIDE * pace * (1 + model.push);
  const sway = (time: number) => 0.012 * short * model.sway * movement * (1 + Math.sin(time * 1.1 - 1.57));
  const camera = (time: number) => speed * time + sway(time);
  const far = camera(shot.seconds) + 0.03 * short;
  const wide = (follows: number, drift: number): Size => ({
    width: 2 * Math.ceil((size.width + far * follows + Math.abs(drift) * shot.seconds) / 2) + 4,
    height: size.height,
  });
  const depth = (follows: number, drift: number, paint: (size: Size) => Layer): Depth => ({
    layer: paint(wide(follows, drift)),
    follows,
    drift,
  });
  const wind = short * 0.02 * pace;
  const depths = [
    depth(0, 0, (whole) => paintSky(whole, sky)),
    ...(place.ridge === 'none' ? [] : [depth(0.04, wind, (whole) => paintClouds(whole, sky))]),
    ...Array.from({ length: place.ridges + (shot.isRich && place.ridge !== 'none' ? 1 : 0) }, (_, index) => {
      const near = (index + 1) / (place.ridges + (place.water ? 1 : 0));
      const wish = { place, hour, isAnime, near: Math.min(1, near), short, seed: seed + index * 977 };
      return depth(0.12 + 0.7 * near, 0, (whole) => paintRidge(whole, wish));
    }),
  ];
  const shore = 2 * Math.round((place.horizon * size.height) / 2);
  const water: Water | undefined = place.water && {
    shore,
    colour: toYuv(
      ...(place.water.map((value, at) => value * (hour.light[at] as number)) as [number, number, number]),
    ),
    ...(hour.orb ? { glitter: { x: locateOrb(size, sky)[0], strength: 0.9 } } : {}),
    waves: movement * (0.7 + 0.3 * model.pace),
  };
  const actor = buildActor(shapes[setting.subject], shot, setting, size);
  const fall = createParticles(setting.weather, seed);
  const fireflies = shot.isRich
    ? createParticles(setting.weather === 'clear' ? 'dust' : setting.weather, seed + 1)
    : undefined;

  // The hour is already as dark as the prompt says.
  const tone = { ...shot.tone, exposure: 0.3 * shot.tone.exposure };
  return (frame, time) => {
    const at = camera(time);
    drawDepths(frame, depths, at, time, water ? shore : frame.height);
    if (water) drawWater(frame, water, time * (0.5 + 0.5 * pace));
    actor(frame, time, at);
    fall?.(frame, time * Math.sqrt(pace), 1);
    fireflies?.(frame, time * pace, 0.8);
    grade(frame, tone);
  };
}

function drawDepths(frame: Frame, depths: readonly Depth[], camera: number, time: number, end: number): void {
  depths.forEach(({ layer, follows, drift }, index) => {
    // Skip rows that nearer layers hide.
    const hidden = Math.min(end, ...depths.slice(index + 1).map((nearer) => nearer.layer.solid));
    layOver(frame, layer, camera * follows + drift * time, 0, hidden);
  });
}

type Actor = (frame: Frame, time: number, camera: number) => void;

/** Builds the subject of the scene, which rocks and drifts slowly. */
function buildActor(shape: Shape, shot: Shot, { hour, place }: Setting, size: Size): Actor {
  const { seed, isAnime, model, movement } = shot;
  const short = Math.min(size.width, size.height);
  const pixels = shape.height * short;
  const sprite = paintSprite(shape, pixels, {
    light: hour.light.map((value) => 0.35 + 0.65 * value) as [number, number, number],
    isAnime,
  });
  const next = createRandom(seed ^ 0xac70);
  const [side, phase] = [0.36 + 0.24 * next(), next() * 6.28];
  const pace = model.pace * movement;
  const isFlying = shape.at === 'sky';
  const ground = isFlying
    ? size.height * (0.3 + 0.12 * next())
    : size.height * Math.min(0.93, place.horizon + (place.water ? 0.13 : 0.1));
  return (frame, time, camera) => {
    const swing = time * (0.7 + 0.6 * pace) + phase;
    const x =
      side * size.width + short * 0.03 * pace * time - camera * 0.15 + short * 0.008 * Math.sin(swing * 0.8);
    const bob =
      short * (isFlying ? 0.02 : shape.rock > 0.03 ? 0.008 : 0) * Math.sin(swing * 1.6) * Math.sqrt(movement);
    const angle = shape.rock * Math.sin(swing * 1.3) * Math.min(1.6, movement);
    const pose: Pose = { x, y: ground + bob, angle, anchor: isFlying ? 'middle' : 'bottom' };
    if (place.water && !isFlying)
      stampSprite(frame, sprite, { ...pose, y: ground - bob, flip: -1, opacity: 0.32 });
    stampSprite(frame, sprite, pose);
  };
}

interface Water {
  /** The first row of the water; even. */
  readonly shore: number;
  readonly colour: Yuv;
  /** Where light glitters on the water. */
  readonly glitter?: { readonly x: number; readonly strength: number };
  /** 1 is calm. */
  readonly waves: number;
}

/**
 * Draws water that mirrors what is above the shore, with waves.
 * @param time seconds
 */
function drawWater(frame: Frame, { shore, colour, glitter, waves }: Water, time: number): void {
  const { width, height } = frame;
  const depth = height - shore;
  for (let row = shore; row < height; row++) {
    const { source, shift, mirror } = computeRipple(row, { shore, depth, width, waves }, time);
    const light = glitter && locateGlitter((row - shore) / depth, glitter.x, width);
    drawMirrorRow(frame.y, row * width, source * width, width, shift, colour[0], mirror);
    if (light) drawGlitterRow(frame.y, row, width, light, glitter.strength, time);
    if (row % 2 === 1) continue;
    const half = width / 2;
    for (const [plane, value] of [
      [frame.u, colour[1]],
      [frame.v, colour[2]],
    ] as const) {
      drawMirrorRow(plane, (row / 2) * half, (source >> 1) * half, half, shift >> 1, value, mirror);
    }
  }
}

interface WaterSurface {
  readonly shore: number;
  readonly depth: number;
  readonly width: number;
  readonly waves: number;
}

function computeRipple(row: number, { shore, depth, width, waves }: WaterSurface, time: number) {
  const near = (row - shore + 0.5) / depth;
  // Nearer waves look longer and higher.
  const phase = 9 / (near + 0.08);
  const wave = Math.sin(phase + time * 2.1) + 0.6 * Math.sin(phase * 1.83 - time * 1.4);
  const shift = Math.round(wave * width * waves * (0.0012 + 0.006 * near));
  const rise = wave * depth * waves * 0.028 * near;
  const source = Math.max(
    0,
    Math.min(shore - 1, Math.round(shore - 1 - (row - shore) * 1.05 - Math.abs(rise))),
  );
  const mirror = 0.72 - 0.4 * near + 0.1 * wave * near;
  return { source, shift, mirror };
}

function drawMirrorRow(
  plane: Uint8Array,
  to: number,
  from: number,
  width: number,
  shift: number,
  own: number,
  mirror: number,
): void {
  const share = Math.round(mirror * 256);
  const base = own * (256 - share) + 128;
  for (let x = 0; x < width; x++) {
    const place = x + shift;
    const inside = place < 0 ? 0 : place >= width ? width - 1 : place;
    plane[to + x] = ((plane[from + inside] as number) * share + base) >> 8;
  }
}

/** Locates the path of light below the sun within a row. */
function locateGlitter(near: number, x: number, width: number) {
  return { x, reach: width * (0.035 + 0.1 * near), length: width * (0.004 + 0.03 * near), near };
}

function drawGlitterRow(
  plane: Uint8Array,
  row: number,
  width: number,
  { x, reach, length, near }: ReturnType<typeof locateGlitter>,
  strength: number,
  time: number,
): void {
  const from = Math.max(0, Math.floor(x - reach * 2));
  const to = Math.min(width, Math.ceil(x + reach * 2));
  const phase = 40 / (near + 0.1);
  for (let column = from; column < to; column++) {
    const far = (column - x) / reach;
    const wave = Math.sin(column / length + 3 * Math.sin(phase) + time * 1.3) * Math.sin(phase - time * 2.6);
    if (wave < 0.35) continue;
    const share = strength * (wave - 0.35) * 1.5 * Math.exp(-far * far);
    const at = row * width + column;
    plane[at] = (plane[at] as number) + (235 - (plane[at] as number)) * Math.min(0.9, share);
  }
}
