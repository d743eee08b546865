import { z } from 'zod';
import { operation } from './operation.js';
import { Prices } from './prices.js';
import { DateTime } from './rules.js';
import { int32 } from './values.js';
import { ExtendRequest, StartEnd2VideoRequest, Text2VideoRequest } from './video-requests.js';

// Decided: created → queueing → processing → success or failed.
export const VideoState = z.enum(['created', 'processing', 'queueing', 'success', 'failed']);

const answered = {
  credits: int32().meta({ description: 'What the task costs' }),
  state: VideoState,
  task_id: z.string(),
  created_at: DateTime.optional(),
  duration: int32().optional(),
  images: z.array(z.string()).optional(),
  model: z.string().optional(),
  payload: z.string().optional().meta({ description: 'As it was given' }),
  prompt: z.string().optional(),
  resolution: z.string().optional(),
};

/** service.md 2.6. */
export const VideoTask = z
  .object({
    ...answered,
    aspect_ratio: z.string().optional(),
    bgm: z.boolean().optional().meta({ description: 'Whether background music was added' }),
    movement_amplitude: z.enum(['auto', 'small', 'medium', 'large']).optional(),
    off_peak: z.boolean().optional().meta({ description: 'Off-peak mode status' }),
    seed: int32().optional(),
    style: z.enum(['general', 'anime']).optional(),
    watermark: z.boolean().optional().meta({ description: 'Whether a watermark was added' }),
  })
  .meta({ id: 'VideoTask' });

/** service.md 2.6, of an extension of a video. */
export const ExtendTask = z
  .object({
    ...answered,
    video_creation_id: z.string().optional(),
    video_url: z.string().optional(),
  })
  .meta({ id: 'ExtendTask' });

/** What a task made, once it has; also the body of callbacks. */
export const VideoCreations = z
  .object({
    id: z.string().meta({ description: 'Task identifier' }),
    state: VideoState,
    err_code: z.string().meta({ description: 'Why the task failed; empty where it did not' }),
    credits: int32(),
    payload: z.string().meta({ description: 'As it was given; empty where it was not' }),
    creations: z.array(
      z.object({
        id: z.string().meta({ description: 'What extend takes as video_creation_id' }),
        url: z.string(),
        cover_url: z.string(),
        watermarked_url: z.string(),
      }),
    ),
  })
  .meta({ id: 'VideoCreations' });

const read = 'video.creations';
const vendor = '/proxy/videovendor';

// Decided: the video proxy needs a credential, because someone is billed.
export const video = {
  text2video: operation({
    method: 'POST',
    path: `${vendor}/text2video`,
    summary: 'Start making a video from a prompt or a start frame',
    auth: 'bearer',
    body: Text2VideoRequest,
    response: VideoTask,
    task: { id: ({ task_id }) => task_id, read },
  }),
  startEnd2video: operation({
    method: 'POST',
    path: `${vendor}/start-end2video`,
    summary: 'Start making a video between a start and an end frame',
    auth: 'bearer',
    body: StartEnd2VideoRequest,
    response: VideoTask,
    task: { id: ({ task_id }) => task_id, read },
  }),
  extend: operation({
    method: 'POST',
    path: `${vendor}/extend`,
    summary: 'Start extending a video',
    auth: 'bearer',
    body: ExtendRequest,
    response: ExtendTask,
    task: { id: ({ task_id }) => task_id, read },
  }),
  creations: operation({
    method: 'GET',
    path: `${vendor}/tasks/{task_id}/creations`,
    summary: 'Show the state of a video task and what it made',
    auth: 'bearer',
    response: VideoCreations,
    extension: true,
  }),
  prices: operation({
    method: 'GET',
    path: `${vendor}/prices`,
    summary: 'Show what generation costs, in credits',
    auth: 'bearer',
    response: Prices,
    extension: true,
  }),
};
