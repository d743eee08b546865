import {
  defaultExtendModel,
  defaultVideoModel,
  resolveVideoFormat,
  type VideoModel,
} from '../../contract/video-models.js';
import { type Adjustment, type Adjustments, combineAdjustments } from '../image/adjustments.js';
import type { Size } from '../image/planes.js';
import { readPrompt } from '../image/prompt.js';
import { ENGINE_NOTE, type PreviewJob } from '../job.js';

type RequestFields = Readonly<Record<string, unknown>>;

/** Which sounds a video has. */
interface SoundChoice {
  readonly effects: boolean;
  readonly speech: boolean;
  readonly music: boolean;
  readonly voice: string;
}

export type Corner = 1 | 2 | 3 | 4;

/** A video as requested. */
export interface Shot {
  readonly operation: PreviewJob<'video'>['operation'];
  readonly seconds: number;
  readonly resolution: keyof typeof SHORT_SIDES;
  readonly aspectRatio: string;
  readonly seed: number;
  readonly prompt: string;
  /** Whether to add more detail. */
  readonly isRich: boolean;
  readonly isAnime: boolean;
  readonly model: ModelTraits;
  /** The amount of movement; 1 is the default of the model. */
  readonly movement: number;
  readonly tone: Adjustments;
  readonly sounds: SoundChoice;
  /** The corner of the watermark, if there is one. */
  readonly watermark?: Corner;
  readonly comment: string;
}

/** The short side in pixels. */
export const SHORT_SIDES = { '360p': 360, '540p': 540, '720p': 720, '1080p': 1080, '2K': 1440 } as const;

/** Longer meta_data is not written into the file. */
const MAX_META_DATA_CHARACTERS = 4096;

export function readShot({ operation, request, seed }: PreviewJob<'video'>): Shot {
  const defaultModel = operation === 'video.extend' ? defaultExtendModel : defaultVideoModel;
  const format = resolveVideoFormat(request, defaultModel);
  const model = MODEL_TRAITS[format.model];
  const prompt = (request.prompt as string | undefined) ?? '';
  const amplitude = (request.movement_amplitude ?? 'auto') as keyof typeof MOVEMENTS;
  const isAnime = request.style === 'anime';
  const metaData = (request.meta_data as string | undefined) ?? '';
  return {
    operation,
    seconds: format.duration,
    resolution: format.resolution as keyof typeof SHORT_SIDES,
    aspectRatio: (request.aspect_ratio as string | undefined) ?? '16:9',
    seed: seed >>> 0,
    prompt,
    isRich: request.is_rec === true,
    isAnime,
    model,
    movement: model.fixedMovement ? 1 : MOVEMENTS[amplitude],
    tone: combineAdjustments(
      model.tone,
      ...readPrompt(prompt).adjustments,
      isAnime ? { saturation: 1.25, contrast: 1.06 } : {},
    ),
    sounds: readSoundChoice(request, model),
    ...(request.watermark === true ? { watermark: ((request.wm_position as Corner) ?? 3) as Corner } : {}),
    comment: `${ENGINE_NOTE}${metaData && metaData.length <= MAX_META_DATA_CHARACTERS ? `\n${metaData}` : ''}`,
  };
}

function readSoundChoice(request: RequestFields, { fixedSound }: ModelTraits): SoundChoice {
  const isOn = (request.audio as boolean | undefined) ?? fixedSound ?? false;
  const type = (fixedSound ? undefined : request.audio_type) ?? 'all';
  return {
    effects: isOn && type !== 'speech_only',
    speech: isOn && type !== 'sound_effect_only',
    music: !fixedSound && request.bgm === true,
    voice: fixedSound ? '' : ((request.voice_id as string | undefined) ?? ''),
  };
}

/** @param aspectRatio width to height, such as `16:9` */
export function computeShotSize({ resolution, aspectRatio }: Pick<Shot, 'resolution' | 'aspectRatio'>): Size {
  const [across, down] = aspectRatio.split(':').map(Number) as [number, number];
  return computeSize(SHORT_SIDES[resolution], across / down);
}

/** @param ratio width divided by height */
export function computeSize(short: number, ratio: number): Size {
  // Colour has half the size, which must be a whole number.
  const long = 2 * Math.round((short * Math.max(ratio, 1 / ratio)) / 2);
  return ratio >= 1 ? { width: long, height: short } : { width: short, height: long };
}

/** How the previews of a model differ from those of others. */
interface ModelTraits {
  /** How fast everything moves. */
  readonly pace: number;
  /** How much the camera moves closer instead of sideways, 0 to 1. */
  readonly push: number;
  /** How much the camera sways, as if handheld. */
  readonly sway: number;
  readonly tone: Adjustment;
  /** service.md: movement_amplitude has no effect. */
  readonly fixedMovement?: boolean;
  /** service.md: audio_type, bgm and voice_id have no effect. */
  readonly fixedSound?: boolean;
}

const MODEL_TRAITS: Readonly<Record<VideoModel, ModelTraits>> = {
  'vvq3-pro': {
    pace: 1,
    push: 0.6,
    sway: 0.5,
    tone: { contrast: 1.06, saturation: 1.06 },
    fixedMovement: true,
    fixedSound: true,
  },
  'vvq2-pro': { pace: 0.9, push: 0.4, sway: 0.3, tone: { warmth: 0.15 }, fixedMovement: true },
  'vvq2-pro-fast': { pace: 1.2, push: 0.4, sway: 0.2, tone: { contrast: 1.03 }, fixedMovement: true },
  'vvq2-turbo': { pace: 1.35, push: 0.3, sway: 0, tone: { saturation: 1.12 }, fixedMovement: true },
  vvq1: { pace: 0.75, push: 0.5, sway: 0.7, tone: { contrast: 0.97, saturation: 0.95 } },
  'vvq1-classic': {
    pace: 0.65,
    push: 0.2,
    sway: 0.1,
    tone: { saturation: 0.82, warmth: 0.35, blacks: 0.15 },
  },
  'vv2.0': { pace: 0.8, push: 0.15, sway: 0.9, tone: { saturation: 0.9, warmth: -0.15 } },
};

/** The amount of movement, by `movement_amplitude`. */
const MOVEMENTS = { auto: 1, small: 0.4, medium: 1.3, large: 2 } as const;
