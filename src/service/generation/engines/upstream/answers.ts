import { z } from 'zod';
import type { TaskKind } from '../../operations.js';

/** A file that a vendor made. */
export interface VendorFile {
  readonly url: string;
  readonly role?: 'video' | 'cover';
  /** What the vendor calls the video, for extensions of it. */
  readonly id?: string | undefined;
}

/** What a vendor says of a task. */
export type Seen =
  | { readonly state: 'running' }
  | { readonly state: 'failed'; readonly code?: string | undefined; readonly reason?: string | undefined }
  | { readonly state: 'done'; readonly files: readonly VendorFile[] };

const text = z.string().nullish();

// No more than is needed, because vendors differ in the rest.
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

/** @returns undefined where the answer makes no sense as that of a status */
export function seenIn(kind: TaskKind, body: unknown): Seen | undefined {
  return kind === 'image' ? seenImage(body) : seenVideo(body);
}

// Decided: any status but the known ends means that the task is still running.
function seenImage(body: unknown): Seen | undefined {
  const { data } = ImageAnswer.safeParse(body);
  if (data?.status === 'COMPLETED') {
    return { state: 'done', files: (data.generated ?? []).map((url) => ({ url })) };
  }
  // The contract has no field for the reason; vendors write it here and there.
  if (data?.status === 'FAILED') return { state: 'failed', reason: reasonIn(data) };
  return data && { state: 'running' };
}

function seenVideo(body: unknown): Seen | undefined {
  const { data } = Video.safeParse(body);
  if (data?.state === 'success') {
    const files = (data.creations ?? []).flatMap(({ id, url, cover_url }): VendorFile[] => [
      { url, role: 'video', id: id ?? undefined },
      ...(cover_url ? [{ url: cover_url, role: 'cover' as const }] : []),
    ]);
    return { state: 'done', files };
  }
  if (data?.state === 'failed') {
    return { state: 'failed', code: data.err_code ?? undefined, reason: reasonIn(data) };
  }
  return data && { state: 'running' };
}

/** The id that a vendor gave a task it was asked to start; undefined where there is none that fits into a path. */
export function taskIdIn(body: unknown): string | undefined {
  const outer = fieldsOf(body);
  const id = fieldsOf(outer.data).task_id ?? outer.task_id;
  return typeof id === 'string' && /^[^\p{C}/\\]{1,1024}$/u.test(id) && !/^\.{1,2}$/.test(id)
    ? id
    : undefined;
}

/** The sentence that an answer holds, in whichever of the usual places. */
export function reasonIn(body: unknown): string | undefined {
  const outer = fieldsOf(body);
  const places = [outer.message, fieldsOf(outer.error).message, outer.detail, outer.reason, outer.error];
  return places.find((place): place is string => typeof place === 'string' && place !== '');
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
