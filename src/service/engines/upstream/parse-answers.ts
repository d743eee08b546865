import { isRecord } from '../../../contract/json.js';
import type { VendorErrorForm, VendorTaskForm } from '../../configuration/vendor-profile.js';
import type { RemoteFile } from '../remote/download-results.js';

interface VendorFile extends RemoteFile {
  /** The vendor's id of the video, for extensions of it. */
  readonly id?: string | undefined;
}

export type VendorStatus =
  | { readonly state: 'running' }
  | { readonly state: 'failed'; readonly code?: string | undefined; readonly reason?: string | undefined }
  | { readonly state: 'done'; readonly files: readonly VendorFile[]; readonly credits?: number | undefined };

/** Follows a JSON Pointer (RFC 6901). @returns undefined if it leads to nothing */
export function readPointer(value: unknown, pointer: string): unknown {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce<unknown>((held, key) => {
    const isHeld = typeof held === 'object' && held !== null && Object.hasOwn(held, key);
    return isHeld ? (held as Readonly<Record<string, unknown>>)[key] : undefined;
  }, value);
}

/** The first text that one of the pointers leads to; numbers count as texts. */
export function findText(value: unknown, pointers: readonly string[] = []): string | undefined {
  const texts = pointers
    .map((pointer) => readPointer(value, pointer))
    .map((found) => (typeof found === 'number' ? String(found) : found));
  return texts.find((text): text is string => typeof text === 'string' && text !== '');
}

/** @returns the items of the first that there is; what is not a list is one item */
function findList(value: unknown, pointers: readonly string[]): readonly unknown[] {
  const found = pointers.map((pointer) => readPointer(value, pointer));
  return [found.find((one) => one !== undefined && one !== null) ?? []].flat();
}

export interface StatusOptions {
  readonly form: VendorTaskForm;
  readonly errors: VendorErrorForm;
  /** Whether its files are videos, with covers. */
  readonly isVideo: boolean;
  /** Whether the copies with a watermark are wanted. */
  readonly isMarked: boolean;
}

// Decided: any state other than the known final ones means that the task is still running.
/** @returns undefined if the body is not a task status */
export function parseStatus(
  body: unknown,
  { form, errors, isVideo, isMarked }: StatusOptions,
): VendorStatus | undefined {
  const state = findText(body, form.state);
  if (state === undefined || !isRecord(body)) return undefined;
  if (form.failed?.includes(state))
    return { state: 'failed', code: findText(body, form.code), reason: findReason(body, errors) };
  if (!form.done?.includes(state)) return { state: 'running' };
  return parseResults(body, { form, isVideo, isMarked });
}

export function parseResults(
  body: unknown,
  { form, isVideo, isMarked }: Omit<StatusOptions, 'errors'>,
): Extract<VendorStatus, { state: 'done' }> {
  const { each, url: plain, marked, base64, cover: coverAt, id } = form.files;
  const urls = [...(isMarked ? (marked ?? []) : []), ...plain];
  const files = findList(body, each).flatMap((item): VendorFile[] => {
    const bytes = findText(item, base64);
    const url = bytes === undefined ? findText(item, urls) : `data:;base64,${bytes}`;
    if (url === undefined) return [];
    if (!isVideo) return [{ url }];
    const cover = findText(item, coverAt);
    return [
      { url, role: 'video', id: findText(item, id) },
      ...(cover ? [{ url: cover, role: 'cover' as const }] : []),
    ];
  });
  return { state: 'done', files, credits: readCredits(body, form) };
}

/** More is no price, and would spoil the sums of all tasks. */
const MAX_CREDITS = 1e9;

/** @returns what the vendor says that it charges; undefined if it does not say */
export function readCredits(body: unknown, { credits }: VendorTaskForm): number | undefined {
  const found = credits === undefined ? undefined : readPointer(body, credits);
  return typeof found === 'number' && found >= 0 && found <= MAX_CREDITS ? found : undefined;
}

/** @returns the id of a started task; undefined if there is none that is safe in a path */
export function parseTaskId(body: unknown, pointers?: readonly string[]): string | undefined {
  const id = findText(body, pointers);
  return id !== undefined && /^[^\p{C}/\\]{1,1024}$/u.test(id) && !/^\.{1,2}$/.test(id) ? id : undefined;
}

/** Finds the message of an error, with the fields that it is about. */
export function findReason(body: unknown, { message, fields }: VendorErrorForm): string | undefined {
  const named = fields
    ? findList(body, fields.each).flatMap((item) => {
        const name = findText(item, [fields.name]);
        return name ? [`${name}: ${findText(item, [fields.reason]) ?? 'is not valid'}`] : [];
      })
    : [];
  return [findText(body, message), ...named].filter(Boolean).join('; ') || undefined;
}
