import { z } from 'zod';
import { atLeastOne, jsonText, requiredTogether } from './rules/fields.js';
import { imageValues } from './rules/images.js';
import { limitsByModel } from './rules/models.js';
import { withRules } from './rules/rule.js';
import { int32, text, WebAddress } from './values.js';
import {
  aspectRatios,
  defaultExtendModel,
  defaultVideoModel,
  resolutions,
  videoModelNames,
  videoModels,
} from './video-models.js';

const prompt = text(2000).optional().meta({ description: 'What is to be seen' });
const payload = text(1_048_576).optional().meta({ description: 'Comes back unchanged with the task' });
const callback_url = WebAddress.optional().meta({ description: 'Called with updates of the task' });

/** service.md 4.2.1 and 4.2.2, all fields but `images`. */
const fields = {
  // Decided: the aspect ratios, and 16:9 where absent.
  aspect_ratio: z.enum(aspectRatios).default('16:9').meta({ description: 'Width to height' }),
  audio: z
    .boolean()
    .optional()
    .meta({ description: 'Generate audio and video together; default true for vvq3-pro' }),
  audio_type: z.enum(['all', 'speech_only', 'sound_effect_only']).optional().meta({
    description: 'all: sound effects and vocals; applies when audio is true; no effect for vvq3-pro',
  }),
  bgm: z.boolean().optional().meta({ description: 'Add background music; no effect for vvq3-pro' }),
  callback_url,
  duration: int32()
    .min(1)
    .max(16)
    .optional()
    .meta({ description: 'Seconds, as many as the model makes; default 5 (vv2.0: 4)' }),
  // Decided: enhance and priority are passed on; they have no meaning of their own.
  enhance: z.boolean().optional().meta({ description: 'Passed on to the model' }),
  is_rec: z
    .boolean()
    .optional()
    .meta({ description: 'Use the recommended prompt; consumes 10 more credits' }),
  meta_data: z.string().optional().meta({ description: 'Custom metadata as JSON text' }),
  model: z.enum(videoModelNames).default(defaultVideoModel).meta({ description: 'Which model makes it' }),
  movement_amplitude: z.enum(['auto', 'small', 'medium', 'large']).optional().meta({
    description: 'How much moves; no effect for vvq2-pro-fast, vvq2-pro, vvq2-turbo and vvq3-pro',
  }),
  off_peak: z.boolean().optional().meta({ description: 'Lower cost; the task is generated within 48 hours' }),
  payload,
  priority: int32().optional().meta({ description: 'Passed on to the model' }),
  prompt,
  resolution: z.enum(resolutions).optional().meta({
    description: 'By model and duration; default 720p (vvq1, vvq1-classic: 1080p; vv2.0 at 4 s: 360p)',
  }),
  // Decided: any int32; the one used is echoed.
  seed: int32().optional().meta({ description: 'Random if not specified' }),
  style: z.enum(['general', 'anime']).optional().meta({ description: 'Style of the video' }),
  voice_id: z.string().optional().meta({ description: 'Which voice speaks; no effect for vvq3-pro' }),
  watermark: z.boolean().default(false).meta({ description: 'Add a watermark' }),
  wm_position: int32()
    .min(1)
    .max(4)
    .default(3)
    .meta({ description: 'Corner of the watermark: 1 top left, 2 top right, 3 bottom right, 4 bottom left' }),
  wm_url: WebAddress.optional().meta({ description: 'Image of the watermark; absent: the default one' }),
};

const frame = z.string().min(1);
// Decided: meta_data must parse as JSON.
const shared = [limitsByModel(videoModels, resolutions, defaultVideoModel), jsonText('meta_data')];

export const Text2VideoRequest = withRules(
  z.strictObject({
    ...fields,
    images: z.array(frame).max(1).optional().meta({ description: 'One image, as the start frame' }),
  }),
  // Decided: a prompt or one image.
  atLeastOne('prompt', 'images'),
  imageValues('images'),
  ...shared,
).meta({ id: 'Text2VideoRequest' });

export const StartEnd2VideoRequest = withRules(
  z.strictObject({
    ...fields,
    // Decided: one or two images, the one departure from service.md's limit of 1: it is pointless without an end frame.
    images: z
      .array(frame)
      .min(1)
      .max(2)
      .meta({ description: 'The start frame and, with two, the end frame' }),
  }),
  imageValues('images'),
  ...shared,
).meta({ id: 'StartEnd2VideoRequest' });

export const ExtendRequest = withRules(
  z.strictObject({
    // Decided: vvq2-turbo and 720p where absent.
    model: z
      .enum(['vvq2-pro', 'vvq2-turbo'])
      .default(defaultExtendModel)
      .meta({ description: 'Which model makes it' }),
    callback_url,
    duration: int32().min(1).max(7).default(5).meta({ description: 'Seconds that are added' }),
    images: z
      .array(frame)
      .max(1)
      .optional()
      .meta({ description: 'One image that the extension leads to, as the end frame' }),
    payload,
    prompt,
    resolution: z.enum(['540p', '720p', '1080p']).default('720p').meta({ description: 'Size of the video' }),
    video_creation_id: z
      .string()
      .min(1)
      .meta({ description: 'Creation id of a generated video; required together with video_url' }),
    video_url: WebAddress.meta({
      description: 'URL of the video; required together with video_creation_id',
    }),
  }),
  // Decided: "stated as required together" means that both are always needed.
  requiredTogether('video_creation_id', 'video_url'),
  imageValues('images'),
).meta({ id: 'ExtendRequest' });
