import { parseStatus, type VendorStatus } from './parse-answers.js';
import type { UpstreamTask } from './retry.js';
import { chooseRoute } from './route.js';
import { NoAnswer, type Vendor, type VendorAnswer } from './vendor.js';

/**
 * Reads the status of a task at the vendor.
 * @throws NoAnswer; the signal's reason
 */
export function readTask(
  { job, vendor }: Pick<UpstreamTask, 'job' | 'vendor'>,
  vendorTaskId: string,
  signal: AbortSignal,
): Promise<VendorAnswer> {
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
  vendorTaskId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { cancel } = vendor.profile;
  if (!cancel) return false;
  const { method, path, body } = cancel;
  const text =
    body === undefined ? undefined : JSON.stringify(body).replaceAll('"{id}"', JSON.stringify(vendorTaskId));
  try {
    const { status } = await vendor.send({
      ...{ method, path: fillPath(path, { id: vendorTaskId }), signal },
      ...(text !== undefined && { body: text, headers: { 'content-type': 'application/json' } }),
    });
    return status >= 200 && status < 300;
  } catch (error) {
    if (error instanceof NoAnswer || signal.aborted) return false;
    throw error;
  }
}

/** @param path a path in which {name} stands for a value */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}
