import type { ImageOperation } from './engine.js';

/** The fields of a request that hold images. */
export const imageFields: Readonly<Record<ImageOperation, readonly string[]>> = {
  'image.relight': ['image', 'transfer_light_from_lightmap', 'transfer_light_from_reference_image'],
  'image.styleTransfer': ['image', 'reference_image'],
  'image.skinEnhancer': ['image'],
  'image.upscaler': ['image'],
};
