import {
  RelightRequest,
  SkinEnhancerRequest,
  StyleTransferRequest,
  UpscalerRequest,
} from './image-requests.js';
import { ImageTask, WrappedImageTask } from './image-task.js';
import { operation, type TaskFacts, taskOperation } from './operation.js';
import { createImagePrice } from './prices.js';

const vendor = '/proxy/imagevendor/v1/ai';

function imageTask(verb: string, noun: string): TaskFacts<'image'> {
  return { kind: 'image', noun, read: `image.${verb}Status`, price: createImagePrice(verb) };
}

export const image = {
  relight: taskOperation(`POST ${vendor}/image-relight`, {
    summary: 'Start a relight task',
    tool: true,
    body: RelightRequest,
    response: WrappedImageTask,
    task: imageTask('relight', 'relight'),
  }),
  relightStatus: operation(`GET ${vendor}/image-relight/{task_id}`, {
    summary: 'Show the status of a relight task',
    who: 'bearer',
    response: WrappedImageTask,
  }),
  styleTransfer: taskOperation(`POST ${vendor}/image-style-transfer`, {
    summary: 'Start a style transfer task',
    tool: true,
    body: StyleTransferRequest,
    response: ImageTask,
    task: imageTask('styleTransfer', 'style transfer'),
  }),
  styleTransferStatus: operation(`GET ${vendor}/image-style-transfer/{task_id}`, {
    summary: 'Show the status of a style transfer task',
    who: 'bearer',
    response: ImageTask,
    extension: 'reads the task that 4.1.4 starts',
  }),
  skinEnhancer: taskOperation(`POST ${vendor}/skin-enhancer/creative`, {
    summary: 'Start a skin enhancement task',
    tool: true,
    body: SkinEnhancerRequest,
    response: WrappedImageTask,
    task: { ...imageTask('skinEnhancer', 'skin enhancement'), httpsOnly: true },
  }),
  skinEnhancerStatus: operation(`GET ${vendor}/skin-enhancer/{task_id}`, {
    summary: 'Show the status of a skin enhancement task',
    who: 'bearer',
    response: WrappedImageTask,
    extension: 'reads the task that 4.1.5 starts',
  }),
  upscaler: taskOperation(`POST ${vendor}/image-upscaler-precision-v2`, {
    summary: 'Start a precision upscaler task',
    tool: true,
    body: UpscalerRequest,
    response: WrappedImageTask,
    task: { ...imageTask('upscaler', 'upscaling'), scaleField: 'scale_factor' },
    extension: 'starts the task that 4.1.3 reads',
  }),
  upscalerStatus: operation(`GET ${vendor}/image-upscaler-precision-v2/{task_id}`, {
    summary: 'Show the status of a precision upscaler task',
    who: 'bearer',
    response: WrappedImageTask,
  }),
};
