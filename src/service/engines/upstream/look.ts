import { randomUUID } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isLoopbackHost } from '../../../contract/schema/loopback.js';
import { isUrl } from '../../../contract/schema/values.js';
import { readFileType } from '../../../disk/file-type.js';
import { formatBytes } from '../../../wire/format-bytes.js';
import { parseRetryAfter } from '../../../wire/retry-after.js';
import { FetchFailed, FileTooLarge, fetchMedia } from '../../network/fetch-media.js';
import {
  EngineFailure,
  type EngineFile,
  type EngineResult,
  type EngineWait,
} from '../../operation/engine.js';
import type { VendorFile, VendorStatus } from './parse-answers.js';
import { type RetryReason, type UpstreamTask, waitForLook, waitForRetry } from './retry.js';
import { saveState, type UpstreamState } from './state.js';
import { NoAnswer, type Vendor } from './vendor.js';
import { parseTaskStatus, readResult, readTask } from './vendor-task.js';

// Decided: started tasks are not given up early: a vendor may be down for a day, its files for six hours.
const ANSWER_TIMEOUT_MS = 24 * 60 * 60_000;
const FILES_TIMEOUT_MS = 6 * 60 * 60_000;
/** If it answers with something else than a status: waiting does not help. */
const STRANGE_TIMEOUT_MS = 10 * 60_000;
/** If only callbacks report the status: until off-peak tasks are due, and an hour more. */
const CALLBACK_TIMEOUT_MS = 49 * 60 * 60_000;
/** If the vendor does not know the task and cannot call; some vendors list a new task only after a while. */
const LOST_TIMEOUT_MS = 10 * 60_000;

/** Looks at the vendor's task once, and downloads its files if it has ended. */
export async function lookAtTask(
  task: UpstreamTask,
  state: UpstreamState & { readonly taskId: string },
): Promise<EngineResult | EngineWait> {
  const status = await readStatus(task, state.taskId);
  if ('waitMs' in status) return status;
  if ('why' in status) return await waitForRetry(task, state, status);
  if (status.state === 'failed') throw toEngineFailure(task, status);
  if (status.state === 'running') return await waitForLook(task, state);
  const files = await downloadFiles(task, status);
  if ('why' in files) return await waitForRetry(task, state, files);
  await saveEnd(task, state.taskId, status);
  return { files };
}

async function readStatus(
  task: UpstreamTask,
  vendorTaskId: string,
): Promise<VendorStatus | RetryReason | EngineWait> {
  const { job, callbacks, vendor, signal, now } = task;
  // The URL of the callback is known to the vendor alone, and a task that has ended does not change any more.
  const reported = parseTaskStatus(task, await callbacks.readLast(job.id));
  if (reported && reported.state !== 'running') {
    vendor.callsBack = true;
    return reported;
  }
  const waitMs = await task.takeRequest(true);
  if (waitMs > 0) return { waitMs, isStarted: true };
  const timeoutMs = ANSWER_TIMEOUT_MS;
  try {
    const { status, headers, body } = await readTask(task, vendorTaskId, signal);
    if (status === 404)
      return reported ?? { why: 'it does not know the task', timeoutMs: getLostTimeoutMs(task) };
    const askedMs = parseRetryAfter(headers['retry-after'], now());
    if (status < 200 || status > 299) return { why: `it answered ${status}`, askedMs, timeoutMs };
    const found = parseTaskStatus(task, body);
    const result = found?.state === 'done' ? await readResult(task, vendorTaskId) : undefined;
    if (result && 'status' in result)
      return { why: `it answered ${result.status}`, timeoutMs: STRANGE_TIMEOUT_MS };
    if (result) return result;
    if (!found) return { why: 'its answer is not a task status', timeoutMs: STRANGE_TIMEOUT_MS };
    // It ended, and no callback came.
    if (found.state !== 'running') vendor.callsBack = false;
    return found;
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { why: error.message, timeoutMs };
  }
}

function getLostTimeoutMs({ callbacks, job, vendor }: UpstreamTask): number {
  return callbacks.getUrl(job.id, vendor.baseUrl) ? CALLBACK_TIMEOUT_MS : LOST_TIMEOUT_MS;
}

export async function downloadFiles(
  task: UpstreamTask,
  { files: vendorFiles }: Extract<VendorStatus, { state: 'done' }>,
): Promise<EngineFile[] | RetryReason> {
  if (vendorFiles.length === 0)
    throw new EngineFailure('The vendor reported success without any result.', {
      code: 'vendor_empty',
      mayBeCharged: true,
    });
  const { resultFiles, resultBytes } = task.limits;
  if (vendorFiles.length > resultFiles) {
    const message = `The vendor returned ${vendorFiles.length} files; the limit is ${resultFiles}.`;
    throw new EngineFailure(message, { code: 'vendor_oversized', mayBeCharged: true });
  }
  const files: EngineFile[] = [];
  let bytes = resultBytes;
  for (const file of vendorFiles) {
    const fetched = await downloadFile(task, file, bytes);
    if ('why' in fetched) return { ...fetched, timeoutMs: FILES_TIMEOUT_MS };
    files.push(fetched);
    bytes -= (await stat(fetched.path)).size;
  }
  return files;
}

async function saveEnd(
  { memory }: UpstreamTask,
  taskId: string,
  { files, credits }: Extract<VendorStatus, { state: 'done' }>,
): Promise<void> {
  const videos = files.flatMap(({ url, role, id }, at) => (role === 'video' ? [{ at, id, url }] : []));
  if (videos.length > 0 || credits !== undefined) await saveState(memory, { taskId, videos }, credits);
}

function toEngineFailure(
  { vendor }: UpstreamTask,
  { code, reason }: Extract<VendorStatus, { state: 'failed' }>,
): EngineFailure {
  if (code !== undefined && vendor.profile.errors.moderated.includes(code))
    return new EngineFailure(`The vendor refused the content${quote(vendor, reason ?? code)}.`, {
      code: 'content_refused',
    });
  const known = /^[\w.-]{1,100}$/.test(code ?? '') ? code : undefined;
  return new EngineFailure(`The task failed at the vendor${quote(vendor, reason ?? code)}.`, { code: known });
}

function quote(vendor: Vendor, words = ''): string {
  const text = vendor.cleanText(words);
  return text && `: ${text.endsWith('.') ? text.slice(0, -1) : text}`;
}

/** Decided: how long fetching one file of a vendor may take. */
const FETCH_SECONDS = 600;

/** The types that this service can serve; TIFF is not one. */
const ACCEPTED_TYPES = { image: /^image\/(?!tiff)/, video: /^video\// } as const;

/**
 * Downloads one file of a vendor into the task's folder, because the vendor's URL will expire. Private
 * addresses other than the vendor's own are refused.
 * @throws EngineFailure if it has more bytes
 */
export async function downloadFile(
  task: UpstreamTask,
  { url, role }: VendorFile,
  bytes: number,
): Promise<EngineFile | { readonly why: string }> {
  const { job, kind } = task;
  const media = kind === 'video' && role === 'video' ? 'video' : 'image';
  const path = join(job.folder, randomUUID());
  try {
    if (url.startsWith('data:')) {
      const content = Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
      if (content.length > bytes) throw new FileTooLarge(bytes);
      await writeFile(path, content, { flag: 'wx', mode: 0o600 });
    } else if (!isUrl(url)) throw new FetchFailed('its URL is invalid');
    else await fetchResult(task, new URL(url), { path, media, bytes });
  } catch (error) {
    if (error instanceof FileTooLarge) {
      const message = `The vendor returned files of more than ${formatBytes(task.limits.resultBytes)}.`;
      throw new EngineFailure(message, { code: 'vendor_oversized', mayBeCharged: true });
    }
    if (error instanceof FetchFailed) return { why: `a result could not be fetched: ${error.message}` };
    throw error;
  }
  const contentType = (await readFileType(path))?.mediaType;
  if (contentType === undefined || !ACCEPTED_TYPES[media].test(contentType))
    return { why: `a result is not ${media === 'image' ? 'an image' : 'a video'}` };
  return { path, contentType, ...(role && { role }) };
}

/** @throws FetchFailed */
function fetchResult(
  { vendor, signal }: UpstreamTask,
  url: URL,
  {
    path,
    media,
    bytes,
  }: { readonly path: string; readonly media: 'image' | 'video'; readonly bytes: number },
): Promise<void> {
  const { baseUrl: serviceOrigin } = vendor;
  const origin = { serviceOrigin, loopbackAllowed: isLoopbackHost(new URL(serviceOrigin).hostname) };
  const limits = { bytes, seconds: FETCH_SECONDS };
  return fetchMedia(url, path, { ...limits, ...origin, httpsOnly: false, media, signal });
}
