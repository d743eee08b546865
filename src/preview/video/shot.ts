import {
  defaultExtendModel,
  defaultVideoModel,
  resolveVideoFormat,
  type VideoModel,
} from '../../contract/video-models.js';
import type { Size } from '../image/picture.js';
import { ENGINE_NOTE, type PreviewJob } from '../job.js';
import { toEven } from './frame.js';

type RequestFields = Readonly<Record<string, unknown>>;

export type Corner = 1 | 2 | 3 | 4;

/** A video as requested. */
export interface Shot {
  readonly operation: PreviewJob<'video'>['operation'];
  /** Whether it continues another video. */
  readonly continues: boolean;
  readonly seconds: number;
  readonly resolution: keyof typeof SHORT_SIDES;
  readonly aspectRatio: string;
  readonly seed: number;
  readonly prompt: string;
  readonly model: VideoModel;
  readonly style: string;
  readonly isRecommended: boolean;
  /** Absent where the model has none. */
  readonly amplitude?: keyof typeof MOVEMENTS;
  /** The amount of movement; 1 is the default. */
  readonly movement: number;
  /** The sounds that it would have, such as `effects`. */
  readonly sounds: readonly string[];
  readonly watermark?: Corner;
  readonly comment: string;
}

/** The short side in pixels. */
export const SHORT_SIDES = { '360p': 360, '540p': 540, '720p': 720, '1080p': 1080, '2K': 1440 } as const;

/** Longer meta_data is not written into the file. */
const MAX_META_DATA_CHARACTERS = 4096;

export function readShot({ operation, request, images, seed }: PreviewJob<'video'>): Shot {
  const continues = images.video !== undefined;
  const format = resolveVideoFormat(request, continues ? defaultExtendModel : defaultVideoModel);
  const { model } = format;
  const amplitude = FIXED_MOVEMENT.includes(model)
    ? undefined
    : ((request.movement_amplitude ?? 'auto') as keyof typeof MOVEMENTS);
  const metaData = (request.meta_data as string | undefined) ?? '';
  return {
    operation,
    continues,
    seconds: format.duration,
    resolution: format.resolution as keyof typeof SHORT_SIDES,
    aspectRatio: (request.aspect_ratio as string | undefined) ?? '16:9',
    seed: seed >>> 0,
    prompt: (request.prompt as string | undefined) ?? '',
    model,
    style: (request.style as string | undefined) ?? 'general',
    isRecommended: request.is_rec === true,
    ...(amplitude && { amplitude }),
    movement: MOVEMENTS[amplitude ?? 'auto'],
    sounds: listSounds(request, model === FIXED_SOUND),
    ...(request.watermark === true && { watermark: (request.wm_position ?? 3) as Corner }),
    comment: `${ENGINE_NOTE}${metaData && metaData.length <= MAX_META_DATA_CHARACTERS ? `\n${metaData}` : ''}`,
  };
}

function listSounds(request: RequestFields, isFixed: boolean): string[] {
  const isOn = (request.audio as boolean | undefined) ?? isFixed;
  const type = isFixed ? 'all' : (request.audio_type ?? 'all');
  const voice = isFixed ? '' : String(request.voice_id ?? '').slice(0, 40);
  return [
    ...(isOn && type !== 'speech_only' ? ['effects'] : []),
    ...(isOn && type !== 'sound_effect_only' ? [`voice ${voice}`.trim()] : []),
    ...(!isFixed && request.bgm === true ? ['music'] : []),
  ];
}

/** @param aspectRatio width to height, such as `16:9` */
export function computeShotSize({ resolution, aspectRatio }: Pick<Shot, 'resolution' | 'aspectRatio'>): Size {
  const [across, down] = aspectRatio.split(':').map(Number) as [number, number];
  return computeSize(SHORT_SIDES[resolution], across / down);
}

/** @param ratio width divided by height */
export function computeSize(short: number, ratio: number): Size {
  // Colour has half the size, which must be a whole number.
  const long = toEven(short * Math.max(ratio, 1 / ratio));
  return ratio >= 1 ? { width: long, height: short } : { width: short, height: long };
}

/** service.md: movement_amplitude has no effect. */
const FIXED_MOVEMENT: readonly VideoModel[] = ['vvq3-pro', 'vvq2-pro', 'vvq2-pro-fast', 'vvq2-turbo'];
/** service.md: audio_type, bgm and voice_id have no effect. */
const FIXED_SOUND: VideoModel = 'vvq3-pro';

/** The amount of movement, by `movement_amplitude`. */
const MOVEMENTS = { auto: 1, small: 0.4, medium: 1.3, large: 2 } as const;
