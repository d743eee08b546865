import type { z } from 'zod';
import type { StyleTransferRequest } from '../../contract/image-requests.js';
import { createGrain, createLayer, readSmall } from './layers.js';
import { addLooks, type ImageOperation, type Look, type Tone } from './look.js';
import { openPixels, type Picture, readPicture } from './picture.js';

type Request = z.output<typeof StyleTransferRequest>;
const PORTRAITS: Readonly<Record<Request['portrait_style'], Look>> = {
  standard: { brightness: 0.06 },
  pop: { saturation: 0.32, contrast: 0.16 },
  super_pop: { saturation: 0.68, contrast: 0.32 },
};
const BEAUTIFIERS: Readonly<Record<NonNullable<Request['portrait_beautifier']>, Look>> = {
  beautify_face: { median: 1, blur: 0.8 },
  beautify_face_max: { median: 2, blur: 1.8 },
};

/** How strongly the reference itself shows where no structure is maintained. */
const REFERENCE_OPACITY = 0.5;

/** Gives a picture the mean and deviation of the colours of another one, and lays that over faintly. */
export const transferStyle: ImageOperation<Request> = async ({ request, find, image, seed }) => {
  const { flavor, portrait_style, portrait_beautifier } = request;
  const picture = await readPicture(image);
  const reference = await readSmall(find('reference_image') as string);
  const style = flavor.startsWith('donotstyle') ? 0 : request.style_strength / 100;
  const opacity = REFERENCE_OPACITY * style * (1 - request.structure_strength / 100);
  const portrait = [
    PORTRAITS[portrait_style],
    ...(portrait_beautifier ? [BEAUTIFIERS[portrait_beautifier]] : []),
  ];
  return {
    picture,
    tone: matchTone(await measureColours(picture), await measureColours(reference), style),
    look: addLooks(1, ...(request.is_portrait ? portrait : [])),
    layers: [
      ...(opacity > 0 ? [await createLayer(reference, picture, { blend: 'over', opacity })] : []),
      createGrain(picture, 0.04, request.fixed_generation ? 1 : seed),
    ],
  };
};

/** The mean and deviation of red, green and blue; a single pixel has no deviation. */
type Colours = readonly { readonly mean: number; readonly stdev: number }[];

async function measureColours(picture: Picture): Promise<Colours> {
  return (await (await openPixels(picture)).stats()).channels.slice(0, 3);
}

/** Stretching more than this would show noise. */
const MOST_STRETCH = 2.5;

/** @param share 0 changes nothing, 1 gives the whole mean and deviation of the other colours */
function matchTone(own: Colours, others: Colours, share: number): Tone {
  const factors = own.map(({ stdev }, at) => {
    const stretch = (others[at]?.stdev || 0) / Math.max(1, stdev || 0);
    return 1 + (Math.min(MOST_STRETCH, stretch) - 1) * share;
  });
  const offsets = own.map(({ mean }, at) => {
    const wanted = mean + ((others[at]?.mean ?? mean) - mean) * share;
    return wanted - (factors[at] as number) * mean;
  });
  return { factors, offsets };
}
