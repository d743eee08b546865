import { z } from 'zod';
import { explain } from './schema/explain.js';
import { requireAtLeastOne, requireJson, requireTogether } from './schema/field-rules.js';
import { requireImages } from './schema/image-rules.js';
import { joinTexts, say } from './schema/message.js';
import { limitByModel } from './schema/model-rules.js';
import { withRules } from './schema/rule.js';
import { choice, int32, limitedText, text, WebAddress } from './schema/values.js';
import {
  aspectRatios,
  defaultExtendModel,
  defaultVideoModel,
  resolutions,
  type VideoModel,
  videoModelNames,
  videoModels,
} from './video-models.js';

const prompt = limitedText(2000).optional().describe('Describe the video');
const payload = limitedText(1_048_576).optional().describe('Returned unchanged with the task');
const callback_url = WebAddress.optional().describe('Callback URL for task status updates');

function noEffectFor(...models: readonly VideoModel[]) {
  return say`no effect for ${joinTexts(
    models.map((value) => ({ value })),
    ', ',
  )}`;
}

/** The fields of service.md 4.2.1 and 4.2.2 except `images`. */
const fields = {
  // Decided: these aspect ratios, by default 16:9.
  aspect_ratio: z.enum(aspectRatios).default('16:9').describe('Aspect ratio, width to height'),
  audio: explain(
    z.boolean().optional(),
    say`Generate audio and video together; default true for ${{ value: 'vvq3-pro' }}`,
  ),
  audio_type: explain(
    z.enum(['all', 'speech_only', 'sound_effect_only']).optional(),
    say`all: sound effects and vocals; applies when audio is true; ${noEffectFor('vvq3-pro')}`,
  ),
  bgm: explain(z.boolean().optional(), say`Add background music; ${noEffectFor('vvq3-pro')}`),
  callback_url,
  duration: explain(
    int32().min(1).max(16).optional(),
    say`Seconds, within the limits of the model; default 5 (${{ value: 'vv2.0' }}: 4)`,
  ),
  // Decided: enhance and priority are passed on, without a meaning of their own.
  enhance: z.boolean().optional().describe('Passed on to the model'),
  is_rec: z.boolean().optional().describe('Use the recommended prompt; consumes an additional 10 credits'),
  meta_data: limitedText(1_048_576).optional().describe('Custom metadata as JSON text'),
  model: z.enum(videoModelNames).default(defaultVideoModel).describe('Model that generates the video'),
  movement_amplitude: explain(
    z.enum(['auto', 'small', 'medium', 'large']).optional(),
    say`Amount of movement; ${noEffectFor('vvq2-pro-fast', 'vvq2-pro', 'vvq2-turbo')} and ${{ value: 'vvq3-pro' }}`,
  ),
  off_peak: z.boolean().optional().describe('Lower cost; the task is generated within 48 hours'),
  payload,
  priority: int32().optional().describe('Passed on to the model'),
  prompt,
  resolution: explain(
    z.enum(resolutions).optional(),
    say`Depends on model and duration; default 720p (${{ value: 'vvq1' }}, ${{ value: 'vvq1-classic' }}: 1080p; ${{ value: 'vv2.0' }} at 4 s: 360p)`,
  ),
  // Decided: any int32; the seed that was used is returned.
  seed: int32().optional().describe('Random if not specified'),
  style: z.enum(['general', 'anime']).optional().describe('Style of the video'),
  voice_id: explain(text.line.optional(), say`Voice that speaks; ${noEffectFor('vvq3-pro')}`),
  watermark: z.boolean().default(false).describe('Add a watermark'),
  wm_position: int32()
    .min(1)
    .max(4)
    .default(3)
    .describe('Corner of the watermark: 1 top left, 2 top right, 3 bottom right, 4 bottom left'),
  wm_url: WebAddress.optional().describe('URL of the watermark image; default: a built-in watermark'),
};

const frame = z.string().min(1);
// Decided: meta_data must parse as JSON.
const shared = [limitByModel(videoModels, resolutions, defaultVideoModel), requireJson('meta_data')];

export const Text2VideoRequest = withRules(
  z.strictObject({
    ...fields,
    images: z.array(frame).max(1).optional().describe('One image to use as the start frame'),
  }),
  // Decided: a prompt or one image is required.
  requireAtLeastOne('prompt', 'images'),
  requireImages('images'),
  ...shared,
).meta({ id: 'Text2VideoRequest' });

export const StartEnd2VideoRequest = withRules(
  z.strictObject({
    ...fields,
    // Decided: one or two images, the only departure from service.md's limit of 1: an end frame is what this
    // is for.
    images: z.array(frame).min(1).max(2).describe('The start frame and, optionally, the end frame'),
  }),
  requireImages('images'),
  ...shared,
).meta({ id: 'StartEnd2VideoRequest' });

export const ExtendRequest = withRules(
  z.strictObject({
    // Decided: by default vvq2-turbo and 720p.
    model: choice('vvq2-pro vvq2-turbo')
      .default(defaultExtendModel)
      .describe('Model that generates the video'),
    callback_url,
    duration: int32().min(1).max(7).default(5).describe('Seconds to add'),
    images: z.array(frame).max(1).optional().describe('One image to use as the end frame'),
    payload,
    prompt,
    resolution: z.enum(['540p', '720p', '1080p']).default('720p').describe('Resolution of the video'),
    video_creation_id: text.line.min(1).describe('Creation id of a generated video'),
    video_url: WebAddress.describe('URL of the video'),
  }),
  // Decided: "stated as required together" means that both are always needed.
  requireTogether('video_creation_id', 'video_url'),
  requireImages('images'),
).meta({
  id: 'ExtendRequest',
  examples: [{ video_creation_id: '912345', video_url: 'https://example.com/boat.mp4' }],
});
