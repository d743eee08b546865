import { type Model, type Models, modeOf } from './rules/models.js';

/** From the smallest to the largest. */
export const resolutions = ['360p', '540p', '720p', '1080p', '2K'] as const;

export type Resolution = (typeof resolutions)[number];

/** A model with the same resolutions at all its durations; 720p and 5 s unless something else is asked for. */
function model(
  from: number,
  to: number,
  made: readonly Resolution[],
  defaultResolution: Resolution = '720p',
) {
  return { modes: [{ from, to, resolutions: made, defaultResolution }], defaultDuration: 5 } satisfies Model;
}

// Decided: which durations and resolutions each model makes, and what it makes where neither is given.
export const videoModels = {
  'vvq3-pro': model(1, 16, ['540p', '720p', '1080p', '2K']),
  'vvq2-pro-fast': model(1, 10, ['720p', '1080p']),
  'vvq2-pro': model(1, 8, ['540p', '720p', '1080p']),
  'vvq2-turbo': model(1, 8, ['540p', '720p', '1080p']),
  vvq1: model(5, 5, ['1080p'], '1080p'),
  'vvq1-classic': model(5, 5, ['1080p'], '1080p'),
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

/** What a request asks for, with what is made where a field is absent. Of a checked request. */
export function formatOf(
  body: Readonly<Record<string, unknown>>,
  defaultModel: VideoModel = defaultVideoModel,
): { readonly model: VideoModel; readonly duration: number; readonly resolution: string } {
  const name = (body.model as VideoModel | undefined) ?? defaultModel;
  const made: Model | undefined = videoModels[name];
  const duration = (body.duration as number | undefined) ?? made?.defaultDuration ?? 0;
  const standard = made && modeOf(made, duration)?.defaultResolution;
  return { model: name, duration, resolution: (body.resolution as string | undefined) ?? standard ?? '' };
}
