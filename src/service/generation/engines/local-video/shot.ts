import { defaultVideoModel, type VideoModel, videoModels } from '../../../../contract/video-models.js';
import type { EngineJob, VideoOperation } from '../../engine.js';
import { type Knobs, knobs } from '../local-image/knobs.js';
import type { Size } from '../local-image/planes.js';
import { readPrompt } from '../local-image/prompt.js';
import { type ModelKnobs, models, movements } from './models.js';

type Fields = Readonly<Record<string, unknown>>;

/** What is heard; one more than what is not said has none. */
export interface Hearing {
  readonly effects: boolean;
  readonly speech: boolean;
  readonly music: boolean;
  readonly voice: string;
}

export type Corner = 1 | 2 | 3 | 4;

/** A video as the request asks for it. */
export interface Shot {
  readonly operation: VideoOperation;
  readonly seconds: number;
  readonly resolution: keyof typeof shortSides;
  readonly aspectRatio: string;
  readonly seed: number;
  readonly prompt: string;
  /** Drawn with more in it. */
  readonly isRich: boolean;
  readonly isAnime: boolean;
  readonly model: ModelKnobs;
  /** 1 as the model moves by itself. */
  readonly movement: number;
  readonly tone: Knobs;
  readonly hearing: Hearing;
  /** Absent: none. */
  readonly watermark?: Corner;
  readonly comment: string;
}

/** Pixels of the short side. */
export const shortSides = { '360p': 360, '540p': 540, '720p': 720, '1080p': 1080, '2K': 1440 } as const;

/** meta_data beyond this stays out of the file. */
const longestMetaData = 4096;

export function readShot({ operation, request, seed }: EngineJob<VideoOperation>): Shot {
  const isExtension = operation === 'video.extend';
  const name = (request.model ?? (isExtension ? 'vvq2-turbo' : defaultVideoModel)) as VideoModel;
  const model = models[name];
  const { modes, defaultDuration } = videoModels[name];
  const seconds = (request.duration as number | undefined) ?? defaultDuration;
  const mode = modes.find(({ from, to }) => from <= seconds && seconds <= to) ?? modes[0];
  const prompt = (request.prompt as string | undefined) ?? '';
  const amplitude = (request.movement_amplitude ?? 'auto') as keyof typeof movements;
  const isAnime = request.style === 'anime';
  const metaData = (request.meta_data as string | undefined) ?? '';
  return {
    operation,
    seconds,
    resolution: (request.resolution ?? mode?.defaultResolution ?? '720p') as keyof typeof shortSides,
    aspectRatio: (request.aspect_ratio as string | undefined) ?? '16:9',
    seed: seed >>> 0,
    prompt,
    isRich: request.is_rec === true,
    isAnime,
    model,
    movement: model.fixedMovement ? 1 : movements[amplitude],
    tone: knobs(model.tone, ...readPrompt(prompt).rows, isAnime ? { saturation: 1.25, contrast: 1.06 } : {}),
    hearing: readHearing(request, model),
    ...(request.watermark === true ? { watermark: ((request.wm_position as Corner) ?? 3) as Corner } : {}),
    comment: `engine: local-preview${metaData && metaData.length <= longestMetaData ? `\n${metaData}` : ''}`,
  };
}

function readHearing(request: Fields, { fixedSound }: ModelKnobs): Hearing {
  const isOn = (request.audio as boolean | undefined) ?? fixedSound ?? false;
  const type = (fixedSound ? undefined : request.audio_type) ?? 'all';
  return {
    effects: isOn && type !== 'speech_only',
    speech: isOn && type !== 'sound_effect_only',
    music: !fixedSound && request.bgm === true,
    voice: fixedSound ? '' : ((request.voice_id as string | undefined) ?? ''),
  };
}

/** @param aspectRatio width to height, such as 16:9 */
export function sizeOfShot({ resolution, aspectRatio }: Pick<Shot, 'resolution' | 'aspectRatio'>): Size {
  const [across, down] = aspectRatio.split(':').map(Number) as [number, number];
  return sizeWithSides(shortSides[resolution], across / down);
}

/** @param ratio width by height */
export function sizeWithSides(short: number, ratio: number): Size {
  // Colour has half the size, which has to be whole.
  const long = 2 * Math.round((short * Math.max(ratio, 1 / ratio)) / 2);
  return ratio >= 1 ? { width: long, height: short } : { width: short, height: long };
}
