import type { TaskOperation } from './engine.js';

/** What a task makes. */
export type TaskKind = 'image' | 'video';

export function kindOf(operation: TaskOperation): TaskKind {
  return operation.startsWith('image.') ? 'image' : 'video';
}

/** The fields of a request that hold images; `images` is a list of them. */
export const imageFields: Readonly<Record<TaskOperation, readonly string[]>> = {
  'image.relight': ['image', 'transfer_light_from_lightmap', 'transfer_light_from_reference_image'],
  'image.styleTransfer': ['image', 'reference_image'],
  'image.skinEnhancer': ['image'],
  'image.upscaler': ['image'],
  'video.text2video': ['images', 'wm_url'],
  'video.startEnd2video': ['images', 'wm_url'],
  'video.extend': ['images'],
};

/** The name of the video that is extended, where an image would have that of its field. */
export const videoInput = 'video';

/** Every name that an input may have. */
export const inputNames: readonly string[] = [
  ...new Set(Object.values(imageFields).flat()),
  // A request holds no more than a start and an end frame.
  ...['images.0', 'images.1', videoInput],
];

/** The name of what a field holds, or of each item: what engines, storage and problems call it. */
export function nameOf(field: string, held: unknown): string | string[] {
  return Array.isArray(held) ? held.map((_, at) => `${field}.${at}`) : field;
}
