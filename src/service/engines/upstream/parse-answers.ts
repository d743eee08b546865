import { z } from 'zod';
import { isRecord } from '../../../contract/json.js';
import type { TaskKind } from '../../../contract/operation.js';

/** A file that a vendor made. */
export interface VendorFile {
  readonly url: string;
  readonly role?: 'video' | 'cover';
  /** The vendor's id of the video, for extensions of it. */
  readonly id?: string | undefined;
}

/** The status of a task at a vendor. */
export type VendorStatus =
  | { readonly state: 'running' }
  | { readonly state: 'failed'; readonly code?: string | undefined; readonly reason?: string | undefined }
  | { readonly state: 'done'; readonly files: readonly VendorFile[] };

const text = z.string().nullish();

// Only the fields that are needed, because vendors differ in the others.
const Image = z.looseObject({
  task_id: text,
  status: z.string(),
  generated: z.array(z.string()).nullish(),
});
const ImageAnswer = z.union([z.object({ data: Image }).transform(({ data }) => data), Image]);

const Video = z.looseObject({
  task_id: text,
  state: z.string(),
  err_code: text,
  creations: z.array(z.object({ id: text, url: z.string(), cover_url: text })).nullish(),
});

/** @returns undefined if the body is not a task status */
export function parseStatus(kind: TaskKind, body: unknown): VendorStatus | undefined {
  return kind === 'image' ? parseImageStatus(body) : parseVideoStatus(body);
}

// Decided: any status other than the known final ones means that the task is still running.
function parseImageStatus(body: unknown): VendorStatus | undefined {
  const { data } = ImageAnswer.safeParse(body);
  if (data?.status === 'COMPLETED') {
    return { state: 'done', files: (data.generated ?? []).map((url) => ({ url })) };
  }
  // The contract has no field for the reason, so vendors use different ones.
  if (data?.status === 'FAILED') return { state: 'failed', reason: findReason(data) };
  return data && { state: 'running' };
}

function parseVideoStatus(body: unknown): VendorStatus | undefined {
  const { data } = Video.safeParse(body);
  if (data?.state === 'success') {
    const files = (data.creations ?? []).flatMap(({ id, url, cover_url }): VendorFile[] => [
      { url, role: 'video', id: id ?? undefined },
      ...(cover_url ? [{ url: cover_url, role: 'cover' as const }] : []),
    ]);
    return { state: 'done', files };
  }
  if (data?.state === 'failed') {
    return { state: 'failed', code: data.err_code ?? undefined, reason: findReason(data) };
  }
  return data && { state: 'running' };
}

/** @returns the id of a started task; undefined if there is none that is safe in a path */
export function parseTaskId(body: unknown): string | undefined {
  const outer = toFields(body);
  const id = toFields(outer.data).task_id ?? outer.task_id;
  return typeof id === 'string' && /^[^\p{C}/\\]{1,1024}$/u.test(id) && !/^\.{1,2}$/.test(id)
    ? id
    : undefined;
}

/** Finds the error message in an answer, which may be in several places. */
export function findReason(body: unknown): string | undefined {
  const outer = toFields(body);
  const places = [outer.message, toFields(outer.error).message, outer.detail, outer.reason, outer.error];
  return places.find((place): place is string => typeof place === 'string' && place !== '');
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
