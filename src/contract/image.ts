import {
  RelightRequest,
  SkinEnhancerRequest,
  StyleTransferRequest,
  UpscalerRequest,
} from './image-requests.js';
import { ImageTask, WrappedImageTask } from './image-task.js';
import { operation } from './operation.js';

const vendor = '/proxy/imagevendor/v1/ai';

export const image = {
  relight: operation({
    method: 'POST',
    path: `${vendor}/image-relight`,
    summary: 'Start a relight task',
    auth: 'bearer',
    body: RelightRequest,
    response: WrappedImageTask,
    task: { id: ({ data }) => data.task_id, read: 'image.relightStatus' },
  }),
  relightStatus: operation({
    method: 'GET',
    path: `${vendor}/image-relight/{task_id}`,
    summary: 'Show the status of a relight task',
    auth: 'bearer',
    response: WrappedImageTask,
  }),
  styleTransfer: operation({
    method: 'POST',
    path: `${vendor}/image-style-transfer`,
    summary: 'Start a style transfer task',
    auth: 'bearer',
    body: StyleTransferRequest,
    response: ImageTask,
    task: { id: ({ task_id }) => task_id, read: 'image.styleTransferStatus' },
  }),
  styleTransferStatus: operation({
    method: 'GET',
    path: `${vendor}/image-style-transfer/{task_id}`,
    summary: 'Show the status of a style transfer task',
    auth: 'bearer',
    response: ImageTask,
    extension: true,
  }),
  skinEnhancer: operation({
    method: 'POST',
    path: `${vendor}/skin-enhancer/creative`,
    summary: 'Start a skin enhancement task',
    auth: 'bearer',
    body: SkinEnhancerRequest,
    response: WrappedImageTask,
    task: { id: ({ data }) => data.task_id, read: 'image.skinEnhancerStatus' },
  }),
  skinEnhancerStatus: operation({
    method: 'GET',
    path: `${vendor}/skin-enhancer/{task_id}`,
    summary: 'Show the status of a skin enhancement task',
    auth: 'bearer',
    response: WrappedImageTask,
    extension: true,
  }),
  upscaler: operation({
    method: 'POST',
    path: `${vendor}/image-upscaler-precision-v2`,
    summary: 'Start a precision upscaler task',
    auth: 'bearer',
    body: UpscalerRequest,
    response: WrappedImageTask,
    task: { id: ({ data }) => data.task_id, read: 'image.upscalerStatus' },
    extension: true,
  }),
  upscalerStatus: operation({
    method: 'GET',
    path: `${vendor}/image-upscaler-precision-v2/{task_id}`,
    summary: 'Show the status of a precision upscaler task',
    auth: 'bearer',
    response: WrappedImageTask,
  }),
};
