import { webhookHeaders } from '../contract/events.js';
import { isSameSecret } from '../wire/same-secret.js';
import { signWebhook } from '../wire/webhook-signature.js';
import { requireInput } from './require-input.js';

/** A webhook as it was received. Missing headers are empty. */
export interface Webhook {
  readonly id: string;
  /** Seconds since the epoch, as in the header. */
  readonly timestamp: string;
  /** One or more of `v1,<Base64>`, separated by spaces. */
  readonly signature: string;
  /** The bytes as received: JSON that was parsed and serialized again has another signature. */
  readonly body: Uint8Array;
}

/** A problem of a webhook: the header that has it, and a sentence without its subject. */
export interface WebhookProblem {
  readonly kind: 'missing' | 'malformed' | 'time' | 'signature';
  readonly header: string;
  readonly message: string;
}

/** The maximum difference between the clocks of sender and receiver. */
const TOLERANCE_SECONDS = 5 * 60;

/**
 * Verifies a webhook with the secrets that may have signed it, as defined by Standard Webhooks.
 * @param now milliseconds since the epoch
 * @returns everything that is wrong with it; empty if it is genuine
 */
export function verifyWebhook(
  webhook: Webhook,
  secrets: readonly string[],
  now: number = Date.now(),
): WebhookProblem[] {
  const { id, timestamp, signature, body } = webhook ?? {};
  const isBody = typeof body === 'string' || body instanceof Uint8Array;
  requireInput({
    body: !isBody && 'must be the bytes as received',
    secrets: !Array.isArray(secrets) && 'must be a list',
  });
  const absent = Object.entries({ id, timestamp, signature }).filter(([, value]) => !value);
  if (absent.length > 0) {
    return absent.map(([name]) => ({
      kind: 'missing',
      header: webhookHeaders[name as 'id' | 'timestamp' | 'signature'],
      message: 'is missing',
    }));
  }
  const problems = [findTimestampProblem(timestamp, now), findSignatureProblem(webhook, secrets)];
  return problems.filter((problem) => problem !== undefined);
}

function findTimestampProblem(timestamp: string, now: number): WebhookProblem | undefined {
  const header = webhookHeaders.timestamp;
  if (!/^\d{1,12}$/.test(timestamp)) {
    return { kind: 'malformed', header, message: 'must be a number of seconds since 1970' };
  }
  const age = Math.floor(now / 1000) - Number(timestamp);
  if (Math.abs(age) <= TOLERANCE_SECONDS) return undefined;
  const away = age > 0 ? `is ${formatDuration(age)} old` : `is ${formatDuration(-age)} in the future`;
  return {
    kind: 'time',
    header,
    message: `${away}; at most ${formatDuration(TOLERANCE_SECONDS)} are accepted`,
  };
}

function formatDuration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 120 * 60) return `${Math.round(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

function findSignatureProblem(webhook: Webhook, secrets: readonly string[]): WebhookProblem | undefined {
  const header = webhookHeaders.signature;
  const given = webhook.signature.split(/\s+/).filter((one) => one.startsWith('v1,'));
  if (given.length === 0) {
    return { kind: 'malformed', header, message: "has no version 1 signature: 'v1,' and Base64" };
  }
  if (hasValidSignature(webhook, secrets)) return undefined;
  return {
    kind: 'signature',
    header,
    message: 'was made with another secret, or the body was changed',
  };
}

/** Whether one of the secrets made one of the signatures, however old the webhook is. */
export function hasValidSignature(webhook: Webhook, secrets: readonly string[]): boolean {
  const given = webhook.signature.split(/\s+/);
  const own = secrets.map((secret) => signWebhook(secret, webhook));
  return given.some((one) => own.some((other) => isSameSecret(one, other)));
}

/** Whether text is a signing secret: Base64, with or without the prefix `whsec_`. */
export function isWebhookSecret(text: string): boolean {
  return /^(whsec_)?[A-Za-z0-9+/]{16,}={0,2}$/.test(text);
}
