import { isLoopbackHost } from '../../../contract/schema/loopback.js';
import { parseRetryAfter } from '../../../wire/retry-after.js';
import { FetchFailed } from '../../network/fetch-media.js';
import {
  EngineFailure,
  type EngineFile,
  type EngineResult,
  type EngineWait,
} from '../../operation/engine.js';
import { downloadResults, type ResultSource } from '../remote/download-results.js';
import { NoAnswer } from '../remote/remote-server.js';
import { findText, type VendorStatus } from './parse-answers.js';
import { type RetryReason, type UpstreamTask, waitForLook, waitForRetry } from './retry.js';
import { saveState, type UpstreamState } from './state.js';
import type { Vendor } from './vendor.js';
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
  task.troubles.end(task.vendor, 'silence');
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
  const last = await callbacks.readLast(job.id);
  const isOther =
    (findText(last, [...(vendor.profile.task.id ?? []), '/id']) ?? vendorTaskId) !== vendorTaskId;
  const reported = isOther ? undefined : parseTaskStatus(task, last);
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
  { job, kind, limits, signal, vendor }: UpstreamTask,
  { files }: Extract<VendorStatus, { state: 'done' }>,
): Promise<EngineFile[] | RetryReason> {
  const { baseUrl: serviceOrigin } = vendor;
  const loopbackAllowed = isLoopbackHost(new URL(serviceOrigin).hostname);
  const source: ResultSource = {
    origin: { serviceOrigin, loopbackAllowed },
    fail: (what, made) =>
      new EngineFailure(
        what === 'empty' ? 'The vendor reported success without any result.' : `The vendor returned ${made}.`,
        { code: `vendor_${what}`, mayBeCharged: true },
      ),
  };
  try {
    return await downloadResults(files, source, { job, kind, limits, signal });
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error;
    return { why: `a result could not be fetched: ${error.message}`, timeoutMs: FILES_TIMEOUT_MS };
  }
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
