import { findMode, type Model, type Models } from './schema/model-rules.js';

/** From the smallest to the largest. */
export const resolutions = ['360p', '540p', '720p', '1080p', '2K'] as const;

export type Resolution = (typeof resolutions)[number];

/** Defines a model with the same resolutions at all durations, and with 5 s as its default. */
function defineModel(
  from: number,
  to: number,
  made: readonly Resolution[],
  defaultResolution: Resolution = '720p',
) {
  return { modes: [{ from, to, resolutions: made, defaultResolution }], defaultDuration: 5 } satisfies Model;
}

// Decided: the durations and resolutions of each model, and its defaults.
export const videoModels = {
  'vvq3-pro': defineModel(1, 16, ['540p', '720p', '1080p', '2K']),
  'vvq2-pro-fast': defineModel(1, 10, ['720p', '1080p']),
  'vvq2-pro': defineModel(1, 8, ['540p', '720p', '1080p']),
  'vvq2-turbo': defineModel(1, 8, ['540p', '720p', '1080p']),
  vvq1: defineModel(5, 5, ['1080p'], '1080p'),
  'vvq1-classic': defineModel(5, 5, ['1080p'], '1080p'),
  'vv2.0': {
    modes: [
      { from: 4, to: 4, resolutions: ['360p', '720p', '1080p'], defaultResolution: '360p' },
      { from: 8, to: 8, resolutions: ['720p'], defaultResolution: '720p' },
    ],
    defaultDuration: 4,
  },
} satisfies Models;

export type VideoModel = keyof typeof videoModels;

export const videoModelNames = Object.keys(videoModels) as [VideoModel, ...VideoModel[]];

export const defaultVideoModel = 'vvq3-pro' satisfies VideoModel;

export const defaultExtendModel = 'vvq2-turbo' satisfies VideoModel;

export const aspectRatios = ['16:9', '9:16', '1:1', '3:4', '4:3'] as const;

/**
 * The format that a request asks for, with the defaults of the model for absent fields.
 * @param body a valid request
 */
export function resolveVideoFormat(
  body: Readonly<Record<string, unknown>>,
  defaultModel: VideoModel = defaultVideoModel,
): { readonly model: VideoModel; readonly duration: number; readonly resolution: string } {
  const name = (body.model as VideoModel | undefined) ?? defaultModel;
  const made: Model | undefined = videoModels[name];
  const duration = (body.duration as number | undefined) ?? made?.defaultDuration ?? 0;
  const standard = made && findMode(made, duration)?.defaultResolution;
  return { model: name, duration, resolution: (body.resolution as string | undefined) ?? standard ?? '' };
}
