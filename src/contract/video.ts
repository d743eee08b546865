import { z } from 'zod';
import { failureFields } from './image-task.js';
import { operation, type TaskFacts, taskOperation } from './operation.js';
import { createVideoPrice, Prices } from './prices.js';
import { DateTime } from './schema/identifiers.js';
import { defineObject, int32 } from './schema/values.js';
import { defaultExtendModel, defaultVideoModel, type VideoModel } from './video-models.js';
import { ExtendRequest, StartEnd2VideoRequest, Text2VideoRequest } from './video-requests.js';

// Decided: created → queueing → processing → success or failed.
export const VideoState = z.enum(['created', 'processing', 'queueing', 'success', 'failed']);

const taskFields = {
  credits: int32().describe('Cost of the task'),
  state: VideoState,
  task_id: z.string(),
  created_at: DateTime.optional(),
  duration: int32().optional(),
  images: z.array(z.string()).optional(),
  model: z.string().optional(),
  payload: z.string().optional().describe('Payload of the request, unchanged'),
  prompt: z.string().optional(),
  resolution: z.string().optional(),
};

/** service.md 2.6. */
export const VideoTask = defineObject('VideoTask', {
  ...taskFields,
  aspect_ratio: z.string().optional(),
  bgm: z.boolean().optional().describe('Whether background music was added'),
  movement_amplitude: z.enum(['auto', 'small', 'medium', 'large']).optional(),
  off_peak: z.boolean().optional().describe('Off-peak mode status'),
  seed: int32().optional(),
  style: z.enum(['general', 'anime']).optional(),
  watermark: z.boolean().optional().describe('Whether a watermark was added'),
});

/** The extend response of service.md 2.6. */
export const ExtendTask = defineObject('ExtendTask', {
  ...taskFields,
  video_creation_id: z.string().optional(),
  video_url: z.string().optional(),
});

/** The state and results of a task; also the body of callbacks. */
export const VideoCreations = defineObject('VideoCreations', {
  id: z.string().describe('Task identifier'),
  state: VideoState,
  err_code: z.string().describe('Why the task failed; empty if it did not'),
  reason: failureFields.reason,
  credits: int32(),
  payload: z.string().describe('Payload of the request, unchanged; empty if there was none'),
  creations: z.array(
    z.object({
      id: z.string().describe('Creation id, which extend takes as video_creation_id'),
      url: z.string(),
      cover_url: z.string(),
      watermarked_url: z.string(),
    }),
  ),
});

function videoTask(defaultModel: VideoModel): TaskFacts<'video'> & { readonly defaultModel: VideoModel } {
  return {
    kind: 'video',
    noun: 'video',
    read: 'video.creations',
    defaultModel,
    price: createVideoPrice(defaultModel),
  };
}

const vendor = '/proxy/videovendor';

// Decided: the video proxy requires a credential, because someone is billed.
export const video = {
  text2video: taskOperation(`POST ${vendor}/text2video`, {
    summary: 'Start generating a video from a prompt or a start frame',
    tool: true,
    body: Text2VideoRequest,
    response: VideoTask,
    task: { ...videoTask(defaultVideoModel), imageUrls: ['wm_url'] },
  }),
  startEnd2video: taskOperation(`POST ${vendor}/start-end2video`, {
    summary: 'Start generating a video between a start and an end frame',
    body: StartEnd2VideoRequest,
    response: VideoTask,
    task: { ...videoTask(defaultVideoModel), imageUrls: ['wm_url'] },
  }),
  extend: taskOperation(`POST ${vendor}/extend`, {
    summary: 'Start extending a video',
    body: ExtendRequest,
    response: ExtendTask,
    task: { ...videoTask(defaultExtendModel), videoFields: ['video_creation_id', 'video_url'] },
  }),
  creations: operation(`GET ${vendor}/tasks/{task_id}/creations`, {
    summary: 'Show the state and the results of a video task',
    who: 'bearer',
    response: VideoCreations,
    extension: 'reads the task that 4.2 starts',
  }),
  prices: operation(`GET ${vendor}/prices`, {
    summary: 'Show the prices of images and videos, in credits',
    tool: true,
    who: 'bearer',
    response: Prices,
    extension: 'says what a task costs before it is started',
  }),
};
