import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { computeSha256 } from '../digest.js';

/** An image of a request in the ledger: its path and digest instead of its data. */
export interface ImageReference {
  /** An absolute path; absent if the image was not a file. */
  readonly file?: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Describes an image for the ledger. */
export function toReference(bytes: Buffer, file?: string): ImageReference {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { ...(file !== undefined && { file }), bytes: bytes.length, sha256 };
}

/** Whether the file of an image has another content than when it was recorded. One that is gone has not. */
export async function hasChanged(
  { file, bytes, sha256 }: ImageReference,
  recordedAt: string,
): Promise<boolean> {
  const stats = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  if (file === undefined || !stats?.isFile()) return false;
  if (stats.size !== bytes) return true;
  return stats.ctimeMs > Date.parse(recordedAt) && (await computeSha256(file)) !== sha256;
}

export function isImageReference(value: unknown): value is ImageReference {
  const { sha256, bytes } = (value ?? {}) as Partial<ImageReference>;
  return typeof value === 'object' && typeof sha256 === 'string' && typeof bytes === 'number';
}
