import type { Problem } from '../../../contract/schema/schema-types.js';
import { formatBytes } from '../../../wire/format-bytes.js';
import type { VendorLimits } from '../../configuration/vendor-profile.js';
import type { InputImage } from '../../operation/engine.js';

type Sizes = Readonly<Record<string, { readonly bytes: number }>>;

const sumBase64 = (images: readonly { readonly bytes: number }[]) =>
  images.reduce((sum, { bytes }) => sum + 4 * Math.ceil(bytes / 3), 0);

/** What the other fields of a request take at most. */
const OTHER_BYTES = 64 * 1024;

/**
 * Chooses the images that a vendor fetches from a URL, because they are too large for its requests: the largest first.
 * @returns their names
 */
export function chooseUrlImages(
  { imageBytes = Number.POSITIVE_INFINITY, requestBytes, urlBytes }: VendorLimits,
  images: Sizes,
): string[] {
  if (urlBytes === undefined) return [];
  const room = (requestBytes ?? Number.POSITIVE_INFINITY) - OTHER_BYTES;
  const largestFirst = Object.entries(images).sort(([, one], [, other]) => other.bytes - one.bytes);
  const isInside = ([, image]: (typeof largestFirst)[number], at: number) =>
    image.bytes <= imageBytes && sumBase64(largestFirst.slice(at).map(([, one]) => one)) <= room;
  const first = largestFirst.findIndex(isInside);
  return largestFirst.slice(0, first < 0 ? undefined : first).map(([name]) => name);
}

/**
 * Lists what a vendor does not take of the images of a request.
 * @param canServe whether the vendor can fetch images from this service
 */
export function checkVendorImages(
  limits: VendorLimits,
  images: Readonly<Record<string, InputImage>>,
  canServe: boolean,
): Problem[] {
  const byUrl = canServe ? chooseUrlImages(limits, images) : [];
  const problems = Object.entries(images).flatMap(([name, image]) => {
    const most = byUrl.includes(name) ? limits.urlBytes : limits.imageBytes;
    const message = findProblem(limits, image, most);
    return message === undefined ? [] : [{ path: [name], message }];
  });
  if (problems.length > 0) return problems;
  const inside = Object.keys(images).filter((name) => !byUrl.includes(name));
  const { requestBytes, likeness } = limits;
  const sent = sumBase64(inside.map((name) => images[name] as InputImage)) + OTHER_BYTES;
  if (requestBytes !== undefined && sent > requestBytes)
    return inside.map((name) => ({
      path: [name],
      message: `is too large together with the other images: ${FOR_VENDOR}, a request may have ${formatBytes(requestBytes)} as Base64`,
    }));
  const [first, ...others] = Object.entries(images);
  if (likeness === undefined || first === undefined) return [];
  return others.flatMap(([name, image]) => {
    const factor = readRatio(image) / readRatio(first[1]);
    if (Math.max(factor, 1 / factor) <= likeness) return [];
    const message = `must have nearly the shape of ${first[0]}: ${FOR_VENDOR}, the ratios of their sides may differ by a factor of ${likeness}`;
    return [{ path: [name], message }];
  });
}

const FOR_VENDOR = 'for the vendor of this service';

const readRatio = ({ width, height }: InputImage) => width / height;

function findProblem(
  { imageTypes, sideRatio }: VendorLimits,
  image: InputImage,
  most: number | undefined,
): string | undefined {
  const types: readonly string[] | undefined = imageTypes;
  const type = image.mediaType.replace('image/', '');
  if (types?.includes(type) === false) return `must be ${types.join(', ')} ${FOR_VENDOR}; it is ${type}`;
  if (most !== undefined && image.bytes > most) return `must be at most ${formatBytes(most)} ${FOR_VENDOR}`;
  const ratio = readRatio(image);
  if (sideRatio === undefined || Math.max(ratio, 1 / ratio) < sideRatio) return undefined;
  return `must have a longer side of less than ${sideRatio} times the other ${FOR_VENDOR}; it has ${image.width} × ${image.height} pixels`;
}
