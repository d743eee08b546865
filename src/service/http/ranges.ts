import type { Range } from '../storage/storage.js';

/**
 * The one range of bytes a request asks for (RFC 9110, 14.2).
 * @returns undefined where the whole is to be sent: no range, several, or one not understood; `outside` where the
 * range holds nothing of the file
 */
export function requestedRange(header: string | undefined, size: number): Range | 'outside' | undefined {
  const [, first, last] = /^bytes=\s*(\d*)-(\d*)\s*$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length > 0 ? { start: size - length, end: size - 1 } : 'outside';
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'outside';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
