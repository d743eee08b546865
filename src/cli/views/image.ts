import { startFlags, taskExplain } from './generation.js';
import type { View } from './view.js';

const explain = { image: 'Image: a file, - for standard input, a URL, or data: or base64: and the data' };
const starts = { module: 'generate', explain, hide: ['image'], flags: startFlags };

export const imageViews: readonly View[] = [
  {
    ...starts,
    usage: 'image relight <image...>',
    operation: 'image.relight',
    summary: 'Change the light of images, by words, a lightmap or a reference image',
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
    summary: 'Give images the style of a reference image',
    explain: {
      ...explain,
      reference_image: 'Image whose style is taken; with --reference-image, more images to be styled',
    },
    examples: [
      'regen image style-transfer photo.jpg painting.jpg --flavor psychedelia -o styled.png',
      'regen image style-transfer *.jpg --reference-image painting.jpg -o styled/',
    ],
  },
  {
    ...starts,
    usage: 'image skin-enhancer <image...>',
    operation: 'image.skinEnhancer',
    summary: 'Smooth skin in images, keeping edges',
    examples: ['regen image skin-enhancer portrait.jpg --sharpen 20 -o portrait-clean.png'],
  },
  {
    ...starts,
    usage: 'image upscaler <image...>',
    operation: 'image.upscaler',
    summary: 'Make images larger, with added detail',
    examples: ['regen image upscaler photo.jpg --scale-factor 4 --flavor photo -o large.png'],
  },
  {
    usage: 'image status <task_id>',
    module: 'generation-status',
    summary: 'Show the status of an image task',
    explain: taskExplain,
    flags: [
      {
        name: 'kind',
        value: 'choice',
        description: 'What kind of task it is, where it was not started from here; absent: each is tried',
        choices: ['relight', 'style-transfer', 'skin-enhancer', 'upscaler'],
      },
    ],
    examples: ['regen image status 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 --kind relight'],
  },
];
