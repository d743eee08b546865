import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InputAudioTrack } from 'mediabunny';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadCodecs } from '../../src/preview/video/codecs.js';
import { readColumns, toAscii } from '../../src/preview/video/font.js';
import type { Film } from '../../src/preview/video/frame.js';
import { createFilm, render } from '../../src/preview/video/render.js';
import { computeShotSize, readShot } from '../../src/preview/video/shot.js';
import { openSource } from '../../src/preview/video/source-video.js';
import { computeGrid, wrapText } from '../../src/preview/video/text.js';
import { addWatermark } from '../../src/preview/video/watermark.js';
import { createVideoPreviewEngine } from '../../src/service/engines/preview.js';
import { EngineFailure, type EngineJob, type VideoOperation } from '../../src/service/operation/engine.js';

// As the preview loads it: an import would load it a second time.
const { mediabunny, webcodecs } = loadCodecs();
const { EncodedPacketSink, FilePathSource, Input, MP4 } = mediabunny;
const folder = mkdtempSync(join(tmpdir(), 'regen-local-video-'));
const locateFile = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const side = 360;
beforeAll(async () => {
  await drawImage('start.png', (x, y) => [x / 2, 90 + 60 * Math.sin(y / 20), 200 - y / 3]);
  await drawImage('end.png', (x, y) =>
    Math.hypot(x - 180, y - 180) < 90 ? [240, 200, 60] : [60, 30 + y / 4, 40],
  );
  await drawImage('mark.png', () => [255, 0, 255]);
});

async function drawImage(name: string, colour: (x: number, y: number) => number[]): Promise<void> {
  const data = new Uint8ClampedArray(side * side * 3);
  for (let at = 0; at < side * side; at++) data.set(colour(at % side, Math.floor(at / side)), at * 3);
  const raw = { width: side, height: side, channels: 3 } as const;
  await sharp(data, { raw }).png().toFile(locateFile(name));
}

type Fields = Readonly<Record<string, unknown>>;
type Job = EngineJob<VideoOperation>;
type Inputs = Job['images'];

let jobs = 0;
/** A job as the service creates it: validated, with paths of inputs. The smallest and shortest video. */
function createJob(operation: VideoOperation, request: Fields, images: Inputs = {}, seed = 7): Job {
  const own = locateFile(`job-${jobs++}`);
  mkdirSync(own);
  const least = { model: 'vv2.0', duration: 1, resolution: '360p', aspect_ratio: '1:1', prompt: 'a boat' };
  return { id: own, operation, request: { ...least, ...request }, images, seed, folder: own };
}

const never = new AbortController().signal;
const getStartImages = () => ({ 'images.0': locateFile('start.png') });

/** What a player reads from the file. */
async function readFacts(file: string) {
  const input = new Input({ source: new FilePathSource(file), formats: [MP4] });
  const video = await input.getPrimaryVideoTrack();
  const audio = await input.getPrimaryAudioTrack();
  const found = {
    codecs: [await video?.getCodec(), await audio?.getCodec()],
    size: [await video?.getDisplayWidth(), await video?.getDisplayHeight()],
    frames: (await video?.computePacketStats())?.packetCount,
    seconds: await video?.computeDuration(),
    comment: (await input.getMetadataTags()).comment,
  };
  const received = await audio?.computeDuration();
  const loudest = audio ? await measureLoudness(audio) : 0;
  input.dispose();
  return { ...found, received, loudest };
}

/** Decodes a sound, and finds how far its samples are from zero. */
async function measureLoudness(track: InputAudioTrack): Promise<number> {
  let loudest = -1;
  const decoder = new webcodecs.AudioDecoder({
    output: (sound) => {
      const samples = new Float32Array(sound.allocationSize({ planeIndex: 0, format: 'f32-planar' }) / 4);
      sound.copyTo(samples, { planeIndex: 0, format: 'f32-planar' });
      loudest = Math.max(loudest, ...samples.map(Math.abs));
    },
    error: (error) => {
      throw error;
    },
  });
  decoder.configure((await track.getDecoderConfig()) as never);
  for await (const { type, data, timestamp } of new EncodedPacketSink(track).packets())
    decoder.decode(new webcodecs.EncodedAudioChunk({ type, data, timestamp: Math.round(timestamp * 1e6) }));
  await decoder.flush();
  return loudest;
}

/** Copies of the frames at these indexes; reads only as far as necessary. */
async function framesAt(film: Film, places: readonly number[]): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  let index = 0;
  for await (const { data } of film.frames()) {
    if (places.includes(index)) found.push(data.slice());
    index += 1;
    if (found.length === places.length) break;
  }
  return found;
}

async function drawFirstFrame(request: Fields, images: Inputs = {}, seed?: number): Promise<Uint8Array> {
  const film = await createFilm(readShot(createJob('video.text2video', request, images, seed)), images);
  return Buffer.concat(await framesAt(film, [0, 5]));
}

/** Mean absolute difference of bytes. */
function measureDifference(one: ArrayLike<number>, other: ArrayLike<number>): number {
  expect(one.length).toBe(other.length);
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += Math.abs((one[at] as number) - (other[at] as number));
  return sum / one.length;
}

async function decodedFrames(file: string, places: readonly number[]): Promise<Uint8Array[]> {
  return framesAt(await openSource(file, '360p'), places);
}

async function stillFrame(name: string): Promise<Uint8Array> {
  const images = { 'images.0': locateFile(name) };
  const film = await createFilm(readShot(createJob('video.text2video', {}, images)), images);
  return (await framesAt(film, [0]))[0] as Uint8Array;
}

test.each([
  ['360p', '16:9', 640, 360],
  ['540p', '9:16', 540, 960],
  ['720p', '1:1', 720, 720],
  ['1080p', '4:3', 1440, 1080],
  ['2K', '3:4', 1440, 1920],
] as const)('the resolution %s at %s has %i by %i pixels', (resolution, aspectRatio, width, height) => {
  expect(computeShotSize({ resolution, aspectRatio })).toEqual({ width, height });
});

/** Reads the lines of text in a frame, dot by dot; other things are no letters. */
function readText(data: Uint8Array, size: { width: number; height: number }, top = 0): string[] {
  const { scale, columns, columnWidth, rowHeight } = computeGrid(size);
  const letters = new Map(
    Array.from({ length: 96 }, (_, at) => String.fromCharCode(32 + at)).map((one) => [
      String(readColumns(one)),
      one,
    ]),
  );
  const isInk = (x: number, y: number) => (data[y * size.width + x] as number) >= 140;
  const lines: string[] = [];
  for (let y = top; y + rowHeight <= size.height; y += rowHeight) {
    const cells = Array.from({ length: columns }, (_, column) => {
      const dots = [0, 1, 2, 3, 4].map((x) => {
        const left = (column + 1) * columnWidth + x * scale;
        return [0, 1, 2, 3, 4, 5, 6, 7].reduce(
          (bits, row) => bits | (isInk(left, y + scale + row * scale) ? 1 << row : 0),
          0,
        );
      });
      return letters.get(String(dots)) ?? '#';
    });
    lines.push(cells.join('').trimEnd());
  }
  return lines;
}

/** The text of a frame of a card, without its bars. */
async function readCard(request: Fields, at = 3, seed?: number): Promise<string[]> {
  const shot = readShot(createJob('video.text2video', request, {}, seed));
  const film = await createFilm(shot, {});
  const [frame] = await framesAt(film, [at]);
  const lines = readText(frame as Uint8Array, film.size);
  const clock = readText(frame as Uint8Array, film.size, findClock(film));
  return [...lines.filter((line) => line !== '' && !line.includes('#')), clock[0] as string];
}

const findClock = ({ size }: Film) => {
  const bars = 2 * Math.round((size.height * 0.14) / 2);
  return Math.round(size.height - bars - 1.5 * computeGrid(size).rowHeight);
};

describe('a card', () => {
  test('shows the options of the request, readably in every format', async () => {
    for (const resolution of ['360p', '720p', '1080p']) {
      for (const aspect_ratio of ['16:9', '9:16', '1:1']) {
        const model = resolution === '720p' ? 'vvq2-pro' : 'vv2.0';
        const asked = { duration: 4, resolution, aspect_ratio, model, prompt: 'a boat in the harbour' };
        const lines = await readCard(asked, 12);
        const { width, height } = computeShotSize(readShot(createJob('video.text2video', asked)));
        const text = lines.join(' ');
        for (const part of [
          'local preview of text2video',
          'a boat in the harbour',
          `model ${model}, 4 s, ${resolution} ${width}x${height}, ${aspect_ratio}, seed 7, style general`,
          'sound none',
          'frame 13/96  00:00.500',
        ])
          expect([resolution, aspect_ratio, text]).toEqual([
            resolution,
            aspect_ratio,
            expect.stringContaining(part),
          ]);
      }
    }
  });

  test.each([
    ['prompt', { prompt: 'a boat at night' }, 'a boat at night'],
    ['model', { model: 'vvq1', resolution: '1080p' }, 'model vvq1'],
    ['style', { style: 'anime' }, 'style anime'],
    ['movement_amplitude', { movement_amplitude: 'large' }, 'movement large'],
    ['is_rec', { is_rec: true }, 'recommended prompt'],
    ['audio', { audio: true }, 'sound effects + voice'],
    ['audio_type', { audio: true, audio_type: 'sound_effect_only' }, 'sound effects'],
    ['voice_id', { audio: true, voice_id: 'anna' }, 'voice anna'],
    ['bgm', { bgm: true }, 'sound music'],
    ['watermark', { watermark: true, wm_position: 2 }, 'watermark 2'],
  ])('writes the option %s', async (_, request, words) => {
    const text = (await readCard(request)).join(' ');
    expect(text).toContain(words);
    expect((await readCard({})).join(' ')).not.toContain(words);
  });

  test('writes other letters as ASCII, and what has no spelling as boxes', () => {
    expect(toAscii('Łódź, “naïve” – café\n東京☔')).toBe('Lodz, "naive" - cafe \x7f\x7f\x7f');
    expect(wrapText(`one two ${'x'.repeat(25)} end`, 10, 9)).toEqual([
      'one two',
      'xxxxxxxxxx',
      'xxxxxxxxxx',
      'xxxxx end',
    ]);
    expect(wrapText('one two three four', 9, 1)).toEqual(['one tw...']);
    expect(wrapText('   ', 9, 2)).toEqual([]);
  });

  test('shortens a prompt that does not fit', async () => {
    const lines = await readCard({ prompt: 'many words '.repeat(180), audio: true, bgm: true });
    expect(lines.filter((line) => line.endsWith('...'))).toHaveLength(1);
    expect(lines.join(' ')).toContain('sound effects + voice + music');
  });

  test('moves, and faster with more movement_amplitude', async () => {
    const film = (request: Fields) => createFilm(readShot(createJob('video.text2video', request)), {});
    const bars = async (request: Fields) => {
      const { size, ...rest } = await film(request);
      const frames = await framesAt({ size, ...rest }, [0, 6]);
      return frames.map((frame) =>
        frame.slice((size.height - 4) * size.width, (size.height - 3) * size.width),
      );
    };
    const far: number[] = [];
    for (const movement_amplitude of ['small', 'auto', 'medium', 'large']) {
      const [first, later] = (await bars({ movement_amplitude })) as [Uint8Array, Uint8Array];
      const moved = Array.from({ length: side }, (_, by) => by).find((by) =>
        later.every((value, at) => value === first[(at + by) % side]),
      );
      far.push(moved as number);
    }
    expect(far).toEqual([10, 22, 30, 46]);
  });

  test('has another look with another seed, including negative ones', async () => {
    const [one, other, negative] = [
      await drawFirstFrame({}),
      await drawFirstFrame({}, {}, 8),
      await drawFirstFrame({}, {}, -7),
    ];
    expect(measureDifference(one, other)).toBeGreaterThan(1);
    expect(measureDifference(one, negative)).toBeGreaterThan(1);
    expect((await readCard({}, 3, -7)).join(' ')).toContain('seed -7');
  });

  const without = { enhance: true, priority: 3, off_peak: true, payload: 'x', meta_data: '{}' };
  test.each([
    ['what is only passed on', {}, without],
    ['movement_amplitude at vvq2-turbo', { model: 'vvq2-turbo' }, { movement_amplitude: 'large' }],
    ['movement_amplitude at vvq2-pro', { model: 'vvq2-pro' }, { movement_amplitude: 'small' }],
    ['movement_amplitude at vvq2-pro-fast', { model: 'vvq2-pro-fast' }, { movement_amplitude: 'large' }],
    ['movement_amplitude at vvq3-pro', { model: 'vvq3-pro' }, { movement_amplitude: 'large' }],
    ['sounds at vvq3-pro', { model: 'vvq3-pro' }, { audio_type: 'speech_only', bgm: true, voice_id: 'anna' }],
  ])('does not show %s', async (_, request, added) => {
    expect(
      measureDifference(await drawFirstFrame(request), await drawFirstFrame({ ...request, ...added })),
    ).toBe(0);
  });
});

test('a picture that moves has a caption between its ends', async () => {
  const film = await createFilm(
    readShot(createJob('video.text2video', { prompt: 'she smiles' }, getStartImages())),
    getStartImages(),
  );
  const [first, later] = await framesAt(film, [0, 12]);
  const still = await stillFrame('start.png');
  expect(measureDifference(first as Uint8Array, still)).toBe(0);
  const { rowHeight } = computeGrid(film.size);
  const found = Array.from({ length: rowHeight }, (_, top) =>
    readText(later as Uint8Array, film.size, top).join(' '),
  );
  const caption = found.find((text) => text.includes('she smiles'));
  for (const part of ['local preview of text2video', 'model vv2.0', 'frame 13/24  00:00.500'])
    expect(caption).toContain(part);
  // The upper half shows the picture, at another place.
  const upper = (frame: Uint8Array | undefined) => (frame as Uint8Array).subarray(0, (side * side) / 3);
  expect(measureDifference(upper(later), upper(first))).toBeGreaterThan(2);
});

describe('the sound of a video', () => {
  test.each([
    ['none', { model: 'vvq2-pro' }, undefined],
    ['none', { model: 'vvq3-pro', audio: false }, undefined],
    ['silence', { model: 'vvq3-pro' }, 'aac'],
    ['silence', { bgm: true }, 'aac'],
    ['silence', { model: 'vvq2-pro', audio: true, audio_type: 'speech_only' }, 'aac'],
  ] as const)('is %s with %j', async (_, request, codec) => {
    const { files } = await render(createJob('video.text2video', request), () => {});
    const { codecs, received, loudest } = await readFacts(files[0]?.path as string);
    expect([codecs, loudest]).toEqual([['avc', codec ?? undefined], 0]);
    if (codec) expect(Math.abs((received as number) - 1)).toBeLessThan(0.022);
  });
});

test.each([
  [1, 'top left', undefined],
  [2, 'top right', undefined],
  [3, 'bottom right', 'mark.png'],
  [4, 'bottom left', undefined],
] as const)('a watermark at position %i is in the corner %s only', async (corner, _, mark) => {
  const film = await createFilm(readShot(createJob('video.text2video', {})), {});
  const marked = await addWatermark(film, corner, mark && locateFile(mark));
  const [[plain], [shown]] = [await framesAt(film, [0]), await framesAt(marked, [0])];
  const changes = [0, 0, 0, 0];
  for (let at = 0; at < side * side; at++) {
    const [isRight, isLow] = [at % side >= side / 2, at >= (side * side) / 2];
    const quarter = isLow ? (isRight ? 2 : 3) : isRight ? 1 : 0;
    if (plain?.[at] !== shown?.[at]) changes[quarter] = (changes[quarter] as number) + 1;
  }
  expect(changes[corner - 1]).toBeGreaterThan(500);
  expect(changes.filter((count) => count > 0)).toHaveLength(1);
});

describe('the process of a video preview', () => {
  test('makes a video of exactly the requested size and length, with sound and a cover', async () => {
    const parts: number[] = [];
    const request = { model: 'vvq3-pro', resolution: '360p', aspect_ratio: '9:16', meta_data: '{"a":1}' };
    const making = createJob('video.text2video', request);
    const { files } = await createVideoPreviewEngine().run(making, never, (part) => parts.push(part));
    expect(files.map(({ role, contentType }) => [role, contentType])).toEqual([
      ['video', 'video/mp4'],
      ['cover', 'image/jpeg'],
    ]);
    const { received, loudest: _, ...found } = await readFacts(files[0]?.path as string);
    expect(found).toEqual({
      codecs: ['avc', 'aac'],
      size: [360, 640],
      frames: 24,
      seconds: 1,
      comment: 'engine: local-preview\n{"a":1}',
    });
    expect(Math.abs((received as number) - 1)).toBeLessThan(0.022);
    const { width, height, exif } = await sharp(files[1]?.path).metadata();
    expect([width, height]).toEqual([360, 640]);
    expect(exif?.toString('latin1')).toContain('engine: local-preview');
    expect(parts.at(-1)).toBe(1);
    expect(parts).toEqual([...parts].sort((one, other) => one - other));
    expect(readdirSync(making.folder)).toHaveLength(2);
  });

  test('fails the task of a corrupt video or image with a sentence', async () => {
    writeFileSync(locateFile('broken.mp4'), 'no video at all');
    const video = { video: locateFile('broken.mp4') };
    const run = (operation: VideoOperation, images: Inputs) =>
      createVideoPreviewEngine()
        .run(createJob(operation, {}, images), never, () => {})
        .catch((error: unknown) => error);
    expect(await run('video.extend', video)).toEqual(new EngineFailure('The video cannot be decoded.'));
    const picture = { 'images.0': locateFile('broken.mp4') };
    expect(await run('video.text2video', picture)).toEqual(new EngineFailure('The image cannot be decoded.'));
  });

  test('stops soon after it is aborted', async () => {
    const ending = new AbortController();
    const long = createJob('video.text2video', { duration: 16 });
    const run = createVideoPreviewEngine().run(long, ending.signal, () =>
      ending.abort(new Error('The service ends.')),
    );
    await expect(run).rejects.toThrow('The service ends.');
  });
});

test('returns equal bytes for equal requests', async () => {
  const request = { model: 'vvq3-pro', watermark: true };
  const bytes = async () => {
    const { files } = await render(createJob('video.text2video', request), () => {});
    return files.map((file) => readFileSync(file.path));
  };
  const first = await bytes();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 100_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect((await bytes()).map((file, at) => file.equals(first[at] as Buffer))).toEqual([true, true]);
});

test('begins and ends with the given images, and extends a video from its last frame', async () => {
  const images = { ...getStartImages(), 'images.1': locateFile('end.png') };
  const between = await render(createJob('video.startEnd2video', { bgm: true }, images), () => {});
  const [first, middle, last] = await decodedFrames(between.files[0]?.path as string, [0, 12, 23]);
  const [from, to] = [await stillFrame('start.png'), await stillFrame('end.png')];
  expect(measureDifference(first as Uint8Array, from)).toBeLessThan(2);
  expect(measureDifference(last as Uint8Array, to)).toBeLessThan(2);
  expect(measureDifference(middle as Uint8Array, from)).toBeGreaterThan(5);
  expect(measureDifference(middle as Uint8Array, to)).toBeGreaterThan(5);

  const source = { video: between.files[0]?.path as string, 'images.0': locateFile('start.png') };
  const { files } = await render(createJob('video.extend', { duration: 2 }, source), () => {});
  const whole = files[0]?.path as string;
  const { received, loudest: _, ...found } = await readFacts(whole);
  expect(found).toMatchObject({ size: [side, side], frames: 72, seconds: 3 });
  // The sound of the source is copied.
  expect(Math.abs((received as number) - 1)).toBeLessThan(0.022);
  const sounds = [await openSource(source.video, '360p'), await openSource(whole, '360p')].map(({ sound }) =>
    sound?.packets.map(({ packet }) => [packet.timestamp, Buffer.from(packet.data).toString('base64')]),
  );
  expect(sounds[0]?.length).toBeGreaterThan(40);
  expect(sounds[1]).toEqual(sounds[0]);
  const [before, after, later, end] = await decodedFrames(whole, [23, 24, 48, 71]);
  expect(measureDifference(before as Uint8Array, to)).toBeLessThan(3);
  expect(measureDifference(after as Uint8Array, before as Uint8Array)).toBeLessThan(2);
  expect(measureDifference(later as Uint8Array, before as Uint8Array)).toBeGreaterThan(5);
  expect(measureDifference(end as Uint8Array, from)).toBeLessThan(2);
});
