import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isLoopbackHost } from '../../../contract/schema/loopback.js';
import { FetchFailed, fetchMedia } from '../../network/fetch-media.js';
import type { EngineFile } from '../../operation/engine.js';
import { detectFileType } from './file-type.js';
import type { VendorFile } from './parse-answers.js';
import type { UpstreamTask } from './retry.js';

/** Decided: limits on fetching a vendor's file. */
const LIMITS = { bytes: 4 * 1024 ** 3, seconds: 600 } as const;

/** The types that this service can serve; TIFF is not one. */
const ACCEPTED_TYPES = { image: /^image\/(?!tiff)/, video: /^video\// } as const;

/**
 * Downloads one file of a vendor into the task's folder, because the vendor's URL will expire. Private
 * addresses other than the vendor's own are refused.
 */
export async function downloadFile(
  { job, kind, vendor, signal }: UpstreamTask,
  { url, role }: VendorFile,
): Promise<EngineFile | { readonly why: string }> {
  const media = kind === 'video' && role === 'video' ? 'video' : 'image';
  const path = join(job.folder, randomUUID());
  try {
    if (!URL.canParse(url)) throw new FetchFailed('its URL is invalid');
    const { baseUrl: serviceOrigin } = vendor;
    const origin = { serviceOrigin, loopbackAllowed: isLoopbackHost(new URL(serviceOrigin).hostname) };
    await fetchMedia(new URL(url), path, { ...LIMITS, ...origin, httpsOnly: false, media, signal });
  } catch (error) {
    if (error instanceof FetchFailed) return { why: `a result could not be fetched: ${error.message}` };
    throw error;
  }
  const contentType = await detectFileType(path);
  if (contentType === undefined || !ACCEPTED_TYPES[media].test(contentType))
    return { why: `a result is not ${media === 'image' ? 'an image' : 'a video'}` };
  return { path, contentType, ...(role && { role }) };
}
