import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { EngineFile } from '../../engine.js';
import { fetchImage, NotFetched } from '../../fetch-image.js';
import type { VendorFile } from './answers.js';
import type { Errand } from './errand.js';
import { fileType } from './file-type.js';

/** Decided: how large a vendor's file may be, and how long it may take. */
const limits = { bytes: 4 * 1024 ** 3, seconds: 600 } as const;

/** What is served back from here; TIFF is not. */
const fit = { image: /^image\/(?!tiff)/, video: /^video\// } as const;

/**
 * Brings one file of a vendor into the task's folder, so that it outlives the vendor's link. Private addresses are
 * refused, but for the vendor's own.
 */
export async function download(
  { job, kind, vendor, signal }: Errand,
  { url, role }: VendorFile,
): Promise<EngineFile | { readonly why: string }> {
  const media = kind === 'video' && role === 'video' ? 'video' : 'image';
  const path = join(job.folder, randomUUID());
  try {
    if (!URL.canParse(url)) throw new NotFetched('its address is no URL');
    const rules = { ...limits, serviceOrigin: vendor.baseUrl, httpsOnly: false, media, signal } as const;
    await fetchImage(new URL(url), path, rules);
  } catch (error) {
    if (error instanceof NotFetched) return { why: `a result could not be fetched: ${error.message}` };
    throw error;
  }
  const contentType = await fileType(path);
  if (contentType === undefined || !fit[media].test(contentType)) return { why: `a result is no ${media}` };
  return { path, contentType, ...(role && { role }) };
}
