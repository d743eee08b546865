import { resolve } from 'node:path';
import { z } from 'zod';
import { hasValidSignature, verifyWebhook, type Webhook, type WebhookProblem } from '../../client/webhook.js';
import { webhookHeaders } from '../../contract/events.js';
import { readGivenFile } from '../../disk/folder-file.js';
import type { Needs } from '../connect/context.js';
import { Failure, usage } from '../terminal/failure.js';
import { readBytes } from '../terminal/stdin.js';
import { Text, Time } from '../views/answers.js';
import { secretFileFlag } from '../views/flags.js';
import type { View } from '../views/view.js';
import { readSecrets } from '../webhooks/secrets.js';

type Context = Needs<'args' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'webhook verify [file]',
  summary: 'Check whether a webhook is genuine; if not, show why and exit 2',
  explain: {
    file: 'The request as received: headers, an empty line, body. With the flags below, only the body',
  },
  flags: {
    '--id <text>': 'Value of the webhook-id header',
    '--timestamp <seconds>': 'Value of the webhook-timestamp header',
    '--signature <text>': 'Value of the webhook-signature header',
    ...secretFileFlag,
  },
  examples: [
    'regen webhook verify request.txt',
    'regen webhook verify --id msg_1 --timestamp 1767225600 --signature v1,bWFkZSB1cA== < body.json',
  ],
  answer: z.object({ verified: z.literal(true), id: Text, sent_at: Time }),
});

export async function run(context: Context): Promise<void> {
  const { output, system } = context;
  const webhook = await readWebhook(context);
  const { accepted: secrets } = await readSecrets(context);
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
    'The secret is read from --secret-file, REGEN_WEBHOOK_SECRET or the service, in this order. For a webhook that was signed before a rotation, pass the old one with --secret-file <file>.',
  time: 'The signature itself is valid. A webhook that is sent again has a new timestamp.',
  missing: 'A webhook has the headers webhook-id, webhook-timestamp and webhook-signature.',
  malformed: 'A webhook has the headers webhook-id, webhook-timestamp and webhook-signature.',
};

const SIGNED = ['id', 'timestamp', 'signature'] as const;

async function readWebhook(context: Context): Promise<Webhook> {
  const { flags } = context;
  const missing = SIGNED.filter((name) => flags[name] === undefined).map((name) => `--${name}`);
  if (missing.length > 0 && missing.length < SIGNED.length)
    throw usage(`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} required as well.`);
  const bytes = await readInputFile(context);
  const { headers, body } = missing.length > 0 ? readRawRequest(bytes) : { headers: undefined, body: bytes };
  const read = (name: (typeof SIGNED)[number]) =>
    headers ? (headers.get(webhookHeaders[name]) ?? '') : String(flags[name]).trim();
  return { id: read('id'), timestamp: read('timestamp'), signature: read('signature'), body };
}

async function readInputFile({ args, system }: Needs<'args' | 'system'>): Promise<Buffer> {
  const file = args.file as string | undefined;
  if (file !== undefined && file !== '-') return readGivenFile(resolve(system.cwd, file));
  if (system.stdin.isTTY) {
    throw usage(
      'There is nothing to verify.',
      'Pass a file, or pipe the request in: headers, an empty line and the body.',
    );
  }
  return readBytes(system.stdin);
}

/** A recorded request: its headers by lower-case name, and its body. */
export interface RawRequest {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Parses an optional request line, headers, an empty line and a body. */
export function readRawRequest(bytes: Buffer): RawRequest {
  const [head, body] = splitRequest(bytes);
  const lines = head.split(/\r?\n/);
  const first = /^[A-Z]+ \S+( HTTP\/[\d.]+)?$/.test(lines[0] ?? '') ? 1 : 0;
  const headers = new Map(
    lines.slice(first).map((line) => {
      const [, name, value = ''] = /^([!#$%&'*+.^_`|~\w-]+):(.*)$/.exec(line) ?? [];
      if (!name) throw toInvalidRequestFailure();
      return [name.toLowerCase(), value.trim()] as const;
    }),
  );
  if (!headers.has(webhookHeaders.id) && !headers.has(webhookHeaders.signature))
    throw toInvalidRequestFailure();
  // An editor may have added a line break at the end.
  const length = headers.get('content-length');
  return { headers, body: length && /^\d+$/.test(length) ? body.subarray(0, Number(length)) : body };
}

function splitRequest(bytes: Buffer): [head: string, body: Buffer] {
  const ends = ['\r\n\r\n', '\n\n'].map((end) => ({ at: bytes.indexOf(end), length: end.length }));
  const [first] = ends.filter(({ at }) => at >= 0).sort((one, other) => one.at - other.at);
  if (!first) throw toInvalidRequestFailure();
  return [bytes.subarray(0, first.at).toString('latin1'), bytes.subarray(first.at + first.length)];
}

function toInvalidRequestFailure() {
  return usage(
    'The input is not a complete request.',
    'Write headers, an empty line and the body; or pass the body with --id, --timestamp and --signature.',
  );
}

/** Common changes of a body between the socket and the verification, and how to undo them. */
const CHANGES: readonly (readonly [happened: string, ...undo: ((text: string) => string | undefined)[]])[] = [
  ['a line break was added to the body', (text) => text.replace(/\r?\n$/, '')],
  ['white space was added around the body', (text) => text.trim()],
  ['the line breaks of the body were changed to CRLF', (text) => text.replaceAll('\r\n', '\n')],
  ['a byte order mark was put before the body', (text) => text.replace(/^\ufeff/, '')],
  ['a line break was removed from the end of the body', (text) => `${text}\n`],
  [
    'the body was parsed and written again',
    (text) => rewriteJson(text),
    (text) => rewriteJson(text.trim(), spaceJson),
    (text) => rewriteJson(text, undefined, 2),
    (text) => rewriteJson(text, undefined, 4),
  ],
];

function findChange(webhook: Webhook, secrets: readonly string[]): string | undefined {
  const text = Buffer.from(webhook.body).toString('utf8');
  const isOriginal = (before: string | undefined) => {
    if (before === undefined || before === text) return false;
    return hasValidSignature({ ...webhook, body: Buffer.from(before) }, secrets);
  };
  return CHANGES.find(([, ...undo]) => undo.some((change) => isOriginal(change(text))))?.[0];
}

function rewriteJson(text: string, change = (json: string) => json, indent?: number): string | undefined {
  try {
    return change(JSON.stringify(JSON.parse(text), null, indent));
  } catch {
    return undefined;
  }
}

/** Formats JSON as other languages do: a space after each comma and colon outside strings. */
function spaceJson(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|[,:]/g, (part) => (part.length === 1 ? `${part} ` : part));
}
