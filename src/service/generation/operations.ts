import type { ImageOperation, TaskOperation } from './engine.js';

/** What a task makes. */
export type TaskKind = 'image' | 'video';

export function kindOf(operation: TaskOperation): TaskKind {
  return operation.startsWith('image.') ? 'image' : 'video';
}

/** The fields of a request that hold images. */
export const imageFields: Readonly<Record<ImageOperation, readonly string[]>> = {
  'image.relight': ['image', 'transfer_light_from_lightmap', 'transfer_light_from_reference_image'],
  'image.styleTransfer': ['image', 'reference_image'],
  'image.skinEnhancer': ['image'],
  'image.upscaler': ['image'],
};
