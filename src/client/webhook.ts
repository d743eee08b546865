import { createHmac, timingSafeEqual } from 'node:crypto';
import { webhookHeaders, webhookSecretPrefix } from '../contract/events.js';

/** A webhook as it came; what was not there is empty. */
export interface Webhook {
  readonly id: string;
  /** Seconds since the epoch, as written in its header. */
  readonly timestamp: string;
  /** One or more of `v1,<Base64>`, with spaces between. */
  readonly signature: string;
  /** Byte by byte as it came: JSON that was parsed and written again has another signature. */
  readonly body: Uint8Array;
}

/** What is wrong with a webhook: the header it shows in, and a sentence without its subject. */
export interface WebhookProblem {
  readonly kind: 'missing' | 'malformed' | 'time' | 'signature';
  readonly header: string;
  readonly message: string;
}

/** How far the sender's clock may be from the receiver's. Seconds. */
const toleranceSeconds = 5 * 60;

/**
 * Holds a webhook against the secrets that may have signed it, as Standard Webhooks say.
 * @param now milliseconds since the epoch
 * @returns everything that is wrong with it; nothing where it is genuine
 */
export function verifyWebhook(
  webhook: Webhook,
  secrets: readonly string[],
  now: number = Date.now(),
): WebhookProblem[] {
  const { id, timestamp, signature } = webhook;
  const absent = Object.entries({ id, timestamp, signature }).filter(([, value]) => value === '');
  if (absent.length > 0) {
    return absent.map(([name]) => ({
      kind: 'missing',
      header: webhookHeaders[name as 'id' | 'timestamp' | 'signature'],
      message: 'is missing',
    }));
  }
  const problems = [timestampProblem(timestamp, now), signatureProblem(webhook, secrets)];
  return problems.filter((problem) => problem !== undefined);
}

function timestampProblem(timestamp: string, now: number): WebhookProblem | undefined {
  const header = webhookHeaders.timestamp;
  if (!/^\d{1,12}$/.test(timestamp)) {
    return { kind: 'malformed', header, message: 'is no number of seconds since 1970' };
  }
  const age = Math.floor(now / 1000) - Number(timestamp);
  if (Math.abs(age) <= toleranceSeconds) return undefined;
  const away = age > 0 ? `is ${duration(age)} old` : `is ${duration(-age)} in the future`;
  return {
    kind: 'time',
    header,
    message: `${away}; at most ${duration(toleranceSeconds)} are accepted`,
  };
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 120 * 60) return `${Math.round(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

function signatureProblem(webhook: Webhook, secrets: readonly string[]): WebhookProblem | undefined {
  const header = webhookHeaders.signature;
  const given = webhook.signature.split(/\s+/).filter((one) => one.startsWith('v1,'));
  if (given.length === 0) {
    return { kind: 'malformed', header, message: "has no signature of version 1: 'v1,' and Base64" };
  }
  if (isSigned(webhook, secrets)) return undefined;
  return {
    kind: 'signature',
    header,
    message: 'was made with another secret, or the body is not as it was sent',
  };
}

/** Whether one of the signatures is of one of the secrets, however old it is. */
export function isSigned(webhook: Webhook, secrets: readonly string[]): boolean {
  const given = webhook.signature.split(/\s+/);
  const own = secrets.map((secret) => signWebhook(secret, webhook));
  return given.some((one) => own.some((other) => isSame(one, other)));
}

/** The signature that a secret makes: `v1,<Base64>`. */
export function signWebhook(
  secret: string,
  { id, timestamp, body }: Pick<Webhook, 'id' | 'timestamp' | 'body'>,
): string {
  const hmac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body);
  return `v1,${hmac.digest('base64')}`;
}

/** Whether a text is a signing secret: Base64, with or without `whsec_` before it. */
export function isWebhookSecret(text: string): boolean {
  return /^(whsec_)?[A-Za-z0-9+/]{16,}={0,2}$/.test(text);
}

function keyOf(secret: string): Buffer {
  const base64 = secret.startsWith(webhookSecretPrefix) ? secret.slice(webhookSecretPrefix.length) : secret;
  return Buffer.from(base64, 'base64');
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
