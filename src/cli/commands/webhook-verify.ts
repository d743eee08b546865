import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { verifyWebhook, type Webhook, type WebhookProblem } from '../../client/webhook.js';
import { webhookHeaders } from '../../contract/events.js';
import { Failure, usage } from '../terminal/failure.js';
import { readBytes } from '../terminal/stdin.js';
import { findChange } from '../webhooks/explain.js';
import { readRawRequest } from '../webhooks/raw-request.js';
import { readSecrets } from '../webhooks/secrets.js';
import type { CommandContext } from './context.js';

/** Verifies a webhook, and explains why it is not valid. */
export async function run(context: CommandContext): Promise<void> {
  const { output, system } = context;
  const webhook = await readWebhook(context);
  const secrets = await readSecrets(context);
  const problems = verifyWebhook(webhook, secrets, system.now());
  if (problems.length === 0) {
    await output.note('The signature is valid.');
    const sent_at = new Date(Number(webhook.timestamp) * 1000).toISOString();
    return output.answer({ verified: true, id: webhook.id, sent_at });
  }
  throw toNotVerifiedFailure(webhook, secrets, problems);
}

function toNotVerifiedFailure(
  webhook: Webhook,
  secrets: readonly string[],
  problems: readonly WebhookProblem[],
): Failure {
  const isForeign = problems.some(({ kind }) => kind === 'signature');
  const changed = isForeign ? findChange(webhook, secrets) : undefined;
  const details = problems.map(({ header, message }) => ({ path: header, message }));
  const sentence = details.map(({ path, message }) => `${path} ${message}`).join('; ');
  const message = changed ? `The signature is not valid, because ${changed}.` : `${sentence}.`;
  return new Failure(message, {
    code: 'webhook_not_verified',
    hint: changed
      ? 'Verify the unchanged bytes of the body, before anything parses or changes them.'
      : HINTS[isForeign ? 'signature' : (problems[0] as WebhookProblem).kind],
    details,
  });
}

const HINTS: Readonly<Record<WebhookProblem['kind'], string>> = {
  signature:
    'The old secret is valid for 24 hours after a rotation. Show the new one with: regen webhook secret',
  time: 'The signature itself is valid. A webhook that is sent again has a new timestamp.',
  missing: 'A webhook has the headers webhook-id, webhook-timestamp and webhook-signature.',
  malformed: 'A webhook has the headers webhook-id, webhook-timestamp and webhook-signature.',
};

async function readWebhook(context: CommandContext): Promise<Webhook> {
  const { flags } = context;
  const names = ['id', 'timestamp', 'signature'] as const;
  const given = names.filter((name) => flags[name] !== undefined);
  const bytes = await readInputFile(context);
  if (given.length === 0) {
    const { headers, body } = readRawRequest(bytes);
    const header = (name: (typeof names)[number]) => headers.get(webhookHeaders[name]) ?? '';
    return { id: header('id'), timestamp: header('timestamp'), signature: header('signature'), body };
  }
  const missing = names.filter((name) => !given.includes(name)).map((name) => `--${name}`);
  if (missing.length > 0)
    throw usage(`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} required as well.`);
  const [id, timestamp, signature] = names.map((name) => (flags[name] as string).trim()) as [
    string,
    string,
    string,
  ];
  return { id, timestamp, signature, body: bytes };
}

async function readInputFile({ args, system }: CommandContext): Promise<Buffer> {
  const file = args.file as string | undefined;
  if (file !== undefined && file !== '-') return readFile(resolve(system.cwd, file));
  if (system.stdin.isTTY) {
    throw usage(
      'There is nothing to verify.',
      'Pass a file, or pipe the request in: headers, an empty line and the body.',
    );
  }
  return readBytes(system.stdin);
}
