import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { type WebhookEvent, type webhookEvents, webhookStates } from '../../contract/events.js';
import { parseState } from '../../flows/tasks/task-state.js';
import { createWebhookHeaders } from '../../wire/webhook-signature.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { Failure, usage } from '../terminal/failure.js';
import { secretFileFlag } from '../views/flags.js';
import type { View } from '../views/view.js';
import { isDone } from '../webhooks/inbox.js';
import { postEvent, readAddress } from '../webhooks/post-event.js';
import { readSecrets } from '../webhooks/secrets.js';

type Context = Needs<'flags' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'webhook trigger',
  summary: 'Send a made-up webhook, signed like those of the service; exits 6 unless it is answered with 2xx',
  flags: {
    '--to <url>': 'Address of the receiver (required)',
    '--event <event>': {
      description: 'Event to send (default: the one that has the state, or image.task.updated)',
      choices: Object.keys(webhookStates),
    },
    '--state <state>': {
      description:
        'State of the task, in any case; done, running and failed are understood, too (default: done)',
      choices: Object.values(webhookStates).flat(),
    },
    ...secretFileFlag,
  },
  notes: ['The task and its results do not exist.'],
  examples: [
    'regen webhook trigger --to http://127.0.0.1:3000/hook',
    'regen webhook trigger --to http://127.0.0.1:3000/hook --state failed',
  ],
});

/** As long as the service gives a receiver. */
const TIMEOUT_MS = 10_000;

export async function run(context: Context): Promise<void> {
  const { system, output, signal } = context;
  const { to, event, state } = readOptions(context);
  const id = `msg_${randomUUID()}`;
  const sample = buildSampleEvent(event, state);
  const body = JSON.stringify(sample.body);
  const { signing: secrets } = await readSecrets(context);
  const headers = createWebhookHeaders(secrets, { id, body, event, now: system.now() });
  const begun = system.now();
  const sent = { headers: { ...headers, 'user-agent': 'regen' }, body, signal, timeoutMs: TIMEOUT_MS };
  const reply = await postEvent(to, sent).catch((error) => {
    signal.throwIfAborted();
    throw notAccepted(error.message, 'The service would retry it for up to 24 hours.');
  });
  const { status } = reply;
  await output.answer({ id, event, task_id: sample.taskId, state, status, ms: system.now() - begun });
  if (!isDone(reply))
    throw notAccepted(`${to.origin}${to.pathname} answered ${status}.`, describeRetry(status, secrets));
}

function readOptions({ flags }: Needs<'flags'>) {
  const to = readAddress(flags, 'to');
  const state = readText(flags, 'state');
  const given = readText(flags, 'event');
  const events = Object.entries(webhookStates) as [WebhookEvent, readonly string[]][];
  const possible = events.filter(([name]) => given === undefined || name === given);
  const states = possible.flatMap(([, states]) => states);
  const found = state === undefined ? possible[0]?.[1][1] : findState(states, state);
  const problems = [
    ...(to === undefined ? ['--to <url> is required.'] : []),
    ...(possible.length === 0 ? [`--event must be one of ${Object.keys(webhookStates).join(', ')}.`] : []),
    ...(possible.length > 0 && !found
      ? [`--state must be one of ${states.join(', ')}, not '${state}'.`]
      : []),
  ];
  if (problems.length > 0 || !to || !found) throw usage(problems.join(' '));
  const [event] = possible.find(([, states]) => states.includes(found)) as [WebhookEvent, unknown];
  return { to: new URL(to), event, state: found };
}

/** Finds a state as it is written, in another case, or by its meaning. */
function findState(states: readonly string[], text: string): string | undefined {
  const isSame = (one: string) => one.toLowerCase() === text.toLowerCase();
  const meaning = parseState(text);
  return (
    states.find((one) => one === text) ??
    states.find(isSame) ??
    states.find((one) => meaning !== undefined && parseState(one) === meaning)
  );
}

function describeRetry(status: number, secrets: readonly string[]): string {
  if (status === 410) return 'The service would send nothing more about this task.';
  const retry =
    'The service would send it again, for up to 24 hours, until it is answered with 2xx. It does not follow redirects.';
  if (secrets.length > 1 || ![400, 401, 403].includes(status)) return retry;
  return `${retry} After a rotation it signs with the old secret too; this command does so with a --secret-file that contains both.`;
}

function notAccepted(message: string, hint: string): Failure {
  return new Failure(message, { code: 'webhook_not_accepted', hint });
}

type Bodies = { [Event in WebhookEvent]: z.output<(typeof webhookEvents)[Event]> };

/** Builds the body that the service sends for a task in this state. Its results do not exist. */
function buildSampleEvent(event: WebhookEvent, state: string) {
  const taskId = randomUUID();
  const toUrl = (name: string) => `https://example.com/results/${taskId}/${name}`;
  if (event === 'image.task.updated') {
    const generated = state === 'COMPLETED' ? [toUrl('0.png')] : [];
    const body: Bodies[typeof event] = { generated, status: state, task_id: taskId };
    return { body, taskId };
  }
  const isDone = state === 'success';
  const creation = { id: `${taskId}-0`, url: toUrl('0.mp4'), cover_url: toUrl('1.png'), watermarked_url: '' };
  const body: Bodies[typeof event] = {
    id: taskId,
    state: state as Bodies[typeof event]['state'],
    err_code: state === 'failed' ? 'generation_failed' : '',
    // What a failed task cost is refunded.
    credits: state === 'failed' ? 0 : 20,
    payload: '',
    creations: isDone ? [creation] : [],
  };
  return { body, taskId };
}
