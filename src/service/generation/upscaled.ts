import { Refused } from '../refused.js';

interface Size {
  readonly width: number;
  readonly height: number;
}

// Decided: a result holds at most as many pixels as an image that is sent.
/** @throws Refused invalid_request where an image would become too large, saying which factor fits */
export function requireUpscalable(
  { width, height }: Size,
  factor: number,
  { imagePixels }: { readonly imagePixels: number },
): void {
  if (width * factor * height * factor <= imagePixels) return;
  const most = Math.floor(Math.sqrt(imagePixels / (width * height)));
  const sizes = `${width} × ${height} pixels would become ${width * factor} × ${height * factor}`;
  const fit = most < 2 ? 'this image cannot be made larger' : `take at most ${most}`;
  const message = `is too large: ${sizes}, which is more than ${imagePixels / 1e6} megapixels; ${fit}`;
  throw new Refused('invalid_request', `scale_factor ${message}.`, [{ path: 'scale_factor', message }]);
}
