import { startFlags } from './flags.js';
import type { View } from './view.js';

const explain = {
  image:
    'Image: a file, - for standard input, a URL, @last for the result of the last task, or inline data after data: or base64:',
};
const starts = { module: 'generate', explain, hide: ['image'], flags: startFlags };

export const imageViews: readonly View[] = [
  {
    ...starts,
    usage: 'image relight <image...>',
    operation: 'image.relight',
    summary: 'Change the light of images with a prompt, a lightmap or a reference image',
    examples: [
      'regen image relight photo.jpg --prompt "(warm evening:1.2)" --style brighter -o evening.png',
      'regen image relight photo.jpg --transfer-light-from-lightmap map.png --no-wait',
      'regen image relight *.jpg --prompt "soft morning" -o relit/',
    ],
  },
  {
    ...starts,
    usage: 'image style-transfer <image> [reference_image...]',
    operation: 'image.styleTransfer',
    summary: 'Apply the style of a reference image to images',
    explain: {
      ...explain,
      reference_image: 'Image to take the style from; with --reference-image, more images to style',
    },
    examples: [
      'regen image style-transfer photo.jpg painting.jpg --flavor psychedelia -o styled.png',
      'regen image style-transfer *.jpg --reference-image painting.jpg -o styled/',
    ],
  },
  {
    ...starts,
    usage: 'image skin-enhancer <image...>',
    aliases: ['enhance-skin'],
    operation: 'image.skinEnhancer',
    summary: 'Smooth skin in images and keep edges',
    examples: ['regen image skin-enhancer portrait.jpg --sharpen 20 -o portrait-clean.png'],
  },
  {
    ...starts,
    usage: 'image upscaler <image...>',
    aliases: ['upscale'],
    operation: 'image.upscaler',
    summary: 'Enlarge images and add detail',
    examples: ['regen image upscaler photo.jpg --scale-factor 4 --flavor photo -o large.png'],
  },
];
