import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { verifyWebhook, type Webhook, type WebhookProblem } from '../../client/webhook.js';
import { webhookHeaders } from '../../contract/events.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import { readBytes } from '../terminal/stdin.js';
import { howChanged } from '../webhooks/explain.js';
import { readRawRequest } from '../webhooks/raw-request.js';
import { readSecrets } from '../webhooks/secrets.js';
import type { CommandContext } from './context.js';

/** Says whether a webhook is genuine; where it is not, why. */
export async function run(context: CommandContext): Promise<void> {
  const { output, system } = context;
  const webhook = await readWebhook(context);
  const secrets = await readSecrets(context);
  const problems = verifyWebhook(webhook, secrets, system.now());
  if (problems.length === 0) {
    await output.note('The signature is right.');
    const sent_at = new Date(Number(webhook.timestamp) * 1000).toISOString();
    return output.answer({ verified: true, id: webhook.id, sent_at });
  }
  throw notVerified(webhook, secrets, problems);
}

function notVerified(
  webhook: Webhook,
  secrets: readonly string[],
  problems: readonly WebhookProblem[],
): Failure {
  const isForeign = problems.some(({ kind }) => kind === 'signature');
  const changed = isForeign ? howChanged(webhook, secrets) : undefined;
  const details = problems.map(({ header, message }) => ({ path: header, message }));
  const said = details.map(({ path, message }) => `${path} ${message}`).join('; ');
  const message = changed ? `The signature does not fit, because ${changed}.` : `${said}.`;
  return new Failure(message, {
    code: 'webhook_not_verified',
    exit: exitCodes.usage,
    hint: changed
      ? 'Verify the bytes of the body as they came, before anything reads or changes them.'
      : hints[isForeign ? 'signature' : (problems[0] as WebhookProblem).kind],
    details,
  });
}

const hints: Readonly<Record<WebhookProblem['kind'], string>> = {
  signature: 'After a rotation the old secret signs for 24 hours; `regen webhook secret` tells the new one.',
  time: 'The signature itself is right; a webhook that is sent again has a new timestamp.',
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
    throw usage(`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} required, too.`);
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
      'Name a file, or pipe the request in: its headers, an empty line, its body.',
    );
  }
  return readBytes(system.stdin);
}
