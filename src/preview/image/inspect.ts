import { throwMachineTrouble } from '../../disk/machine-trouble.js';
import type { ImageInspection, ImageToInspect } from '../job.js';
import { openImage } from '../sharp.js';

/** Of wall time: an image that takes longer may be sent again. */
const DECODING_SECONDS = 60;
/** A larger image is reduced while it is decoded, to save memory; for a small one that takes longer. */
const MAX_WHOLE_PIXELS = 1_000_000;

/**
 * Decodes an image completely, if it has an accepted format and size.
 * @throws PackageMissing; the system's error
 */
export async function inspectImage({ image, maxPixels }: ImageToInspect): Promise<ImageInspection> {
  const content = 'path' in image ? image.path : Buffer.from(image.base64, 'base64');
  const picture = await openImage(content, { failOn: 'error', sequentialRead: true });
  const head = await picture.metadata().catch(throwMachineTrouble);
  if (!head || !isSupported(head.format, head.compression)) return { width: 0, height: 0, problem: 'format' };
  const { width, height } = head.autoOrient;
  if (width * height > maxPixels) return { width, height, problem: 'pixels' };
  if (width * height > MAX_WHOLE_PIXELS) picture.resize(16, 16, { fit: 'fill' });
  const decoded = picture.raw().timeout({ seconds: DECODING_SECONDS });
  if (!(await decoded.toBuffer().catch(throwMachineTrouble))) return { width, height, problem: 'content' };
  return { width, height };
}

function isSupported(format: string, compression: string | undefined): boolean {
  // AVIF
  if (format === 'heif') return compression === 'av1';
  return ['jpeg', 'png', 'webp', 'gif', 'tiff'].includes(format);
}
