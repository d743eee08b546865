import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { parseJson } from '../contract/json.js';
import type { Envelope, PublicKey } from '../contract/statement.js';

/** The bytes that are signed (DSSE, pre-authentication encoding). */
export function encodeForSigning(type: string, payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

export interface EnvelopeSigner {
  readonly kid: string;
  /** Ed25519. */
  readonly privateKey: KeyObject;
}

/** Signs a value as JSON. The same value and key always give the same envelope. */
export function signEnvelope(type: string, value: object, { kid, privateKey }: EnvelopeSigner): Envelope {
  const payload = Buffer.from(JSON.stringify(value));
  const sig = sign(null, encodeForSigning(type, payload), privateKey).toString('base64');
  return { payloadType: type, payload: payload.toString('base64'), signatures: [{ keyid: kid, sig }] };
}

/**
 * Reads what an envelope says, if one of the keys signed it.
 * @returns undefined if none did
 */
export function openEnvelope(
  type: string,
  { payloadType, payload, signatures }: Envelope,
  keys: readonly PublicKey[],
): { readonly kid: string; readonly value: unknown } | undefined {
  if (payloadType !== type) return undefined;
  const bytes = Buffer.from(payload, 'base64');
  const signed = encodeForSigning(type, bytes);
  for (const { keyid, sig } of signatures) {
    const key = keys.find(({ kid }) => kid === keyid);
    if (key && verify(null, signed, importPublicKey(key), Buffer.from(sig, 'base64')))
      return { kid: key.kid, value: parseJson(bytes.toString()) };
  }
  return undefined;
}

export function importPublicKey({ kty, crv, x }: Omit<PublicKey, 'kid'>): KeyObject {
  return createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
}

/** The id of a key that follows from it (RFC 7638). */
export function computeThumbprint({ kty, crv, x }: Omit<PublicKey, 'kid'>): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
}
