import type { VideoModel } from '../../contract/video-models.js';
import type { Adjustment } from '../image/adjustments.js';

/** How the previews of a model differ from those of others. */
export interface ModelTraits {
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

export const MODEL_TRAITS: Readonly<Record<VideoModel, ModelTraits>> = {
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
export const MOVEMENTS = { auto: 1, small: 0.4, medium: 1.3, large: 2 } as const;
