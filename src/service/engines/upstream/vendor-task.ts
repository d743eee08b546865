import { NoAnswer, type RemoteAnswer } from '../remote/remote-server.js';
import { findReason, findText, parseResults, parseStatus, type VendorStatus } from './parse-answers.js';
import type { UpstreamTask } from './retry.js';
import { chooseRoute } from './route.js';
import type { Vendor } from './vendor.js';

/**
 * Reads the status of a task at the vendor.
 * @throws NoAnswer; the signal's reason
 */
export function readTask(
  { job, vendor }: Pick<UpstreamTask, 'job' | 'vendor'>,
  vendorTaskId: string,
  signal: AbortSignal,
): Promise<RemoteAnswer> {
  const { profile } = vendor;
  const path = chooseRoute(profile, job.operation, job.request)?.read ?? profile.task.read ?? '/{id}';
  return vendor.send({ method: 'GET', path: fillPath(path, { id: vendorTaskId }), signal });
}

/** @returns undefined if the body is not a task status */
export function parseTaskStatus(
  { job, kind, vendor }: Pick<UpstreamTask, 'job' | 'kind' | 'vendor'>,
  body: unknown,
): VendorStatus | undefined {
  const { task: form, errors } = vendor.profile;
  return parseStatus(body, {
    ...{ form, errors },
    isVideo: kind === 'video',
    isMarked: job.request.watermark === true,
  });
}

/** Reads the results of a task that is done, where they are not in its status. */
export async function readResult(
  { job, kind, vendor, signal }: UpstreamTask,
  vendorTaskId: string,
): Promise<VendorStatus | { readonly status: number } | undefined> {
  const { profile } = vendor;
  const path = chooseRoute(profile, job.operation, job.request)?.result;
  if (path === undefined) return undefined;
  const { status, body } = await vendor.send({
    ...{ method: 'GET', path: fillPath(path, { id: vendorTaskId }), signal },
  });
  const { task: form, errors } = profile;
  if (status === 200)
    return parseResults(body, { form, isVideo: kind === 'video', isMarked: job.request.watermark === true });
  // It says why the task failed.
  if (status === 400 || status === 422)
    return { state: 'failed', code: findText(body, errors.code), reason: findReason(body, errors) };
  return { status };
}

/** Reads the present URL of a video. @returns undefined if the vendor does not say it now */
export async function readFreshUrl(
  task: UpstreamTask,
  vendorTaskId: string,
  videoId: string | undefined,
): Promise<string | undefined> {
  try {
    const { status, body } = await readTask(task, vendorTaskId, task.signal);
    const found = status === 200 ? parseTaskStatus(task, body) : undefined;
    return found?.state === 'done' ? found.files.find(({ id }) => id && id === videoId)?.url : undefined;
  } catch (error) {
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

/**
 * Asks the vendor to cancel a task.
 * @returns whether it did, so that it charges nothing
 */
export async function cancelVendorTask(
  vendor: Vendor,
  {
    taskId: vendorTaskId,
    cancel: ownPath,
  }: { readonly taskId: string; readonly cancel?: string | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  const { cancel } = vendor.profile;
  const path = ownPath ?? cancel?.path;
  if (!cancel || path === undefined) return false;
  const { method, body } = cancel;
  const text =
    body === undefined ? undefined : JSON.stringify(body).replaceAll('"{id}"', JSON.stringify(vendorTaskId));
  try {
    const { status } = await vendor.send({
      ...{ method, path: fillPath(path, { id: vendorTaskId }), signal },
      ...(text !== undefined && { body: text, headers: { 'content-type': 'application/json' } }),
    });
    return status >= 200 && status < 300 && cancel.refunds;
  } catch (error) {
    if (error instanceof NoAnswer || signal.aborted) return false;
    throw error;
  }
}

/** @param path a path in which {name} stands for a value */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}
