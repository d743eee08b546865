import { z } from 'zod';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { findTask } from '../../flows/tasks/task.js';
import { findEnd, type TaskState } from '../../flows/tasks/task-state.js';
import { PORTS, readNumber, readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { toTaskFailure } from '../generation/finish-task.js';
import { durationMs } from '../terminal/duration.js';
import { usage } from '../terminal/failure.js';
import { waitForAbort } from '../terminal/interrupted.js';
import { formatField, oneLine } from '../terminal/text.js';
import { Text } from '../views/answers.js';
import { secretFileFlag } from '../views/flags.js';
import type { View } from '../views/view.js';
import { createActions } from '../webhooks/actions.js';
import { catchUp } from '../webhooks/catch-up.js';
import { type Event, formatEvent } from '../webhooks/event.js';
import { Handled, Inbox, isDone } from '../webhooks/inbox.js';
import { readAddress } from '../webhooks/post-event.js';
import { receiveWebhooks } from '../webhooks/receive.js';
import { readSecrets, SecretsInUse } from '../webhooks/secrets.js';
import { afterSleep } from '../webhooks/sleep.js';
import { awaitEnd } from '../webhooks/until.js';

type Context = Needs<'flags' | 'system' | 'output' | 'signal' | 'folders' | 'ledger' | 'services'>;

export const view = (): View => ({
  usage: 'webhook listen',
  summary:
    'Receive webhooks on this machine, verify them, and print one per line (NDJSON with --json); can also run a command or forward them',
  flags: {
    '--port <number>': 'Port to listen on, 0 for a free one (default 0)',
    '--public-url <url>': 'Public address of this listener, such as the address of a tunnel',
    '--forward-to <url>': 'Forward each webhook, body and headers unchanged, and return the response',
    '--exec <command>':
      'Shell command to run for each webhook, with the body on standard input and REGEN_WEBHOOK_EVENT, _ID, _TASK_ID and _STATE in the environment; if it does not exit 0, the webhook is sent again',
    '--until <task_id>':
      'Exit when this task has ended, according to a webhook or its status; exits 6 if it failed',
    '--again':
      'Also handle webhooks that were handled before, such as those of `webhook resend`, and those that are older than a state that was handled',
    '--timeout <duration>': 'With --until: maximum time to wait; then exits 8',
    ...secretFileFlag,
  },
  shape: { columns: ['event', 'task_id', 'state', 'outputs'] },
  examples: [
    `regen webhook listen --port 8788 --exec "jq -r '.status // .state'"`,
    'regen webhook listen --public-url https://hooks.example.com/regen --forward-to http://127.0.0.1:3000/hook --json',
  ],
  answer: z.object({
    id: Text,
    event: Text,
    task_id: Text.optional(),
    state: Text.optional(),
    caught_up: z.boolean(),
    body: z.record(Text, z.unknown()).nullable(),
  }),
});

export async function run(context: Context): Promise<void> {
  const { output, system } = context;
  output.beginStream();
  const options = readOptions(context);
  const act = createActions(context);
  const secrets = new SecretsInUse(context, await readSecrets(context));
  const task = options.until === undefined ? undefined : await findTask(context, options.until);
  let report: (seen: TaskState) => void = () => {};
  const reported = new Promise<TaskState>((resolve) => {
    report = resolve;
  });
  const inbox = new Inbox({
    handled: new Handled(context.folders.state),
    show: (event) => showEvent(context, event),
    repeat: async ({ id, taskId }, as) => {
      const why = {
        expected: 'was delivered as well; it is handled already.',
        handled: 'was handled before. To handle such webhooks again, pass --again.',
        replaced: `is older than the state of task ${taskId} that was handled. To handle such webhooks too, pass --again.`,
      }[as];
      if (!context.flags.again) await output.tell(`Webhook ${id} ${why}`);
      return context.flags.again === true;
    },
    act: async (event) => {
      const reply = await act(event);
      const { taskId, seen } = event;
      if (isDone(reply) && taskId === task?.id && seen && findEnd(seen.state)) report(seen);
      return reply;
    },
  });
  const receiver = await receiveWebhooks({ output, now: system.now, secrets, inbox, port: options.port });
  const address = options.publicUrl ?? receiver.url;
  const { services, ledger, signal } = context;
  const catchUpContext = { services, ledger, signal, output, now: system.now, inbox, secrets, address };
  try {
    await sayWhere(context, receiver.url, address);
    await catchUp(catchUpContext, task?.id);
    const stop = afterSleep(context.system.now, () => {
      catchUp(catchUpContext, task?.id).catch((error) => context.output.warn(String(error)));
    });
    try {
      if (!task) return await waitForAbort(context.signal);
      const seen = await awaitEnd(catchUpContext, task, reported, options.timeoutMs);
      const { state, outputs } = seen;
      if (task.entry) await context.ledger.change(task.entry.id, { state, outputs });
      if (findEnd(state) === 'badly') throw await toTaskFailure(context, task, seen);
    } finally {
      stop();
    }
  } finally {
    await receiver.close();
  }
}

function readOptions(context: Needs<'flags'>) {
  const port = readNumber(context.flags, 'port', PORTS) ?? 0;
  const publicUrl = readAddress(context.flags, 'public-url');
  const until = readText(context.flags, 'until');
  const timeout = readText(context.flags, 'timeout');
  if (timeout !== undefined && until === undefined) throw usage('--timeout requires --until.');
  const timeoutMs = timeout === undefined ? undefined : durationMs(timeout, '--timeout');
  return { port, publicUrl, until, timeoutMs };
}

async function sayWhere(context: Needs<'output' | 'services'>, url: string, address: string): Promise<void> {
  const { output } = context;
  const { url: service, name } = await context.services.reach();
  await output.tell(`Listening at ${url} (press Ctrl-C to stop).`);
  await output.tell(
    `Start tasks with --webhook-url ${address} (videos: --callback-url) to receive their webhooks.`,
  );
  if (!isLocalAddress(service) && isLocalAddress(address)) {
    await output.warn(`${name} cannot reach this address. Pass the URL of a tunnel with --public-url.`);
  }
}

function isLocalAddress(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

async function showEvent({ output, system }: Needs<'system' | 'output'>, event: Event): Promise<void> {
  const { seen, taskId } = event;
  if (output.mode.json || output.mode.ndjson) return output.items([formatEvent(event)]);
  const columns = [event.name, taskId ?? event.id, seen?.state ?? '', seen?.outputs.join(' ') ?? ''];
  await output.line(
    system.stdout.isTTY ? columns.map(oneLine).join('  ') : columns.map(formatField).join('\t'),
  );
}
