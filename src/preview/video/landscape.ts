import type { Size } from '../image/planes.js';
import { createRandom } from '../image/random.js';
import { type Film, FRAME_RATE, type Frame, newFrame, toYuv } from './frame.js';
import { grade } from './grade.js';
import { type Layer, layOver } from './layer.js';
import { paintRidge } from './ridges.js';
import { readSetting, type Setting } from './setting.js';
import { type Shape, shapes } from './shapes.js';
import { computeShotSize, type Shot } from './shot.js';
import { locateOrb, paintClouds, paintSky } from './sky.js';
import { type Pose, paintSprite, stampSprite } from './sprite.js';
import { drawWater, type Water } from './water.js';
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
