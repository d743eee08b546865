import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { FlowError } from './flow-error.js';

export async function computeSha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Reads the SHA-256, in hex, of a `Repr-Digest` header. */
export function parseDigest(header: string | undefined): string | undefined {
  const digest = /sha-256=:([^:]+):/.exec(header ?? '')?.[1];
  return digest && Buffer.from(digest, 'base64').toString('hex');
}

/**
 * Compares the digest of a file with its `Repr-Digest` header, if there is one.
 * @throws FlowError if they differ
 */
export function checkDigest(header: string | undefined, sha256: string): void {
  const expected = parseDigest(header);
  if (expected) checkSha256(expected, sha256);
}

/** @throws FlowError if the digests, in hex, differ */
export function checkSha256(expected: string, sha256: string): void {
  if (expected.toLowerCase() === sha256) return;
  throw new FlowError('digest_mismatch', 'The downloaded file does not match its digest; nothing was saved.');
}
