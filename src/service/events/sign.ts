import { createHmac, randomBytes } from 'node:crypto';
import { webhookSecretPrefix } from '../../contract/events.js';

/** What a signature covers. */
export interface Message {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  /** As it is sent, byte by byte. */
  readonly body: string;
}

export function newWebhookSecret(): string {
  return webhookSecretPrefix + randomBytes(32).toString('base64');
}

/** The signature header of Standard Webhooks: one signature a secret. */
export function signatures(secrets: readonly string[], { id, timestamp, body }: Message): string {
  const signed = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(webhookSecretPrefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return signed.join(' ');
}
