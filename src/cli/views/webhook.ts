import { webhookStates } from '../../contract/events.js';
import type { Destruction } from '../../contract/operation.js';
import { webhook } from '../../contract/webhook.js';
import { flag } from '../command/flags.js';
import type { View } from './view.js';

const secretFile = flag(
  '--secret-file <path>',
  'File with the signing secret (default: REGEN_WEBHOOK_SECRET, or the secret read from the service)',
);

const DELIVERY_ID = 'Id of the delivery, as shown by `regen webhook deliveries`';
const deliveryLookup = { deliveryId: { operation: 'webhook.deliveries', field: 'id' } } as const;

export const webhookViews: readonly View[] = [
  {
    usage: 'webhook listen',
    module: 'webhook-listen',
    summary:
      'Receive webhooks on this machine, verify them, and print one per line (NDJSON with --json); can also run a command or forward them',
    flags: [
      flag('--port <number>', 'Port to listen on, 0 for a free one (default 0)'),
      flag('--public-url <url>', 'Public address of this listener, such as the address of a tunnel'),
      flag('--forward-to <url>', 'Forward each webhook, body and headers unchanged, and return the response'),
      flag(
        '--exec <command>',
        'Shell command to run for each webhook, with the body on standard input and REGEN_WEBHOOK_EVENT, _ID, _TASK_ID and _STATE in the environment; if it does not exit 0, the webhook is sent again',
      ),
      flag(
        '--until <task_id>',
        'Exit when this task has ended, according to a webhook or its status; exits 6 if it failed',
      ),
      flag('--timeout <duration>', 'With --until: maximum time to wait; then exits 8'),
      secretFile,
    ],
    shape: { columns: ['event', 'task_id', 'state', 'outputs'] },
    examples: [
      'regen webhook listen --port 8788 --exec "jq -r .status"',
      'regen webhook listen --public-url https://hooks.example.com/regen --forward-to http://127.0.0.1:3000/hook --json',
    ],
  },
  {
    usage: 'webhook verify [file]',
    module: 'webhook-verify',
    summary: 'Check whether a webhook is genuine; if not, show why and exit 2',
    explain: {
      file: 'The request as received: headers, an empty line, body. With the flags below, only the body',
    },
    flags: [
      flag('--id <text>', 'Value of the webhook-id header'),
      flag('--timestamp <seconds>', 'Value of the webhook-timestamp header'),
      flag('--signature <text>', 'Value of the webhook-signature header'),
      secretFile,
    ],
    examples: [
      'regen webhook verify request.txt',
      'regen webhook verify --id msg_1 --timestamp 1767225600 --signature v1,bWFkZSB1cA== < body.json',
    ],
  },
  {
    usage: 'webhook trigger',
    module: 'webhook-trigger',
    summary:
      'Send a made-up webhook, signed like those of the service; exits 6 unless it is answered with 2xx',
    flags: [
      flag('--to <url>', 'Address of the receiver (required)'),
      flag('--event <event>', 'Event to send (default: the one that has the state, or image.task.updated)', {
        choices: Object.keys(webhookStates),
      }),
      flag('--state <state>', 'State of the task (default: that of a task that is done)', {
        choices: Object.values(webhookStates).flat(),
      }),
      secretFile,
    ],
    notes: ['The task and its results do not exist.'],
    examples: [
      'regen webhook trigger --to http://127.0.0.1:3000/hook',
      'regen webhook trigger --to http://127.0.0.1:3000/hook --state failed',
    ],
  },
  {
    usage: 'webhook secret',
    module: 'webhook-secret',
    destroys: { ...(webhook.rotateSecret.destroys as Destruction), flag: 'rotate' },
    summary: 'Print the secret that signs your webhooks, or replace it',
    changes: true,
    flags: [
      flag('--rotate', 'Create a new secret; for 24 hours, the old one signs too'),
      flag('--show', 'Print the secret even if stdout is a terminal'),
    ],
    examples: ['regen webhook secret > webhook-secret.txt'],
  },
  {
    usage: 'webhook deliveries [task_id]',
    operation: 'webhook.deliveries',
    summary: 'List the sent and pending deliveries of your webhooks, newest first',
    explain: { task_id: 'Only deliveries for this task' },
    lookup: { task_id: { operation: 'webhook.deliveries', field: 'task_id' } },
    shape: {
      columns: ['id', 'task_id', 'state', 'status', 'attempts', 'next_at', 'reason', 'url'],
      ids: ['id', 'task_id'],
      less: ['url', 'reason', 'status', 'next_at', 'attempts', 'task_id'],
    },
    examples: ['regen webhook deliveries --json'],
  },
  {
    usage: 'webhook resend <deliveryId>',
    operation: 'webhook.resend',
    explain: { deliveryId: DELIVERY_ID },
    lookup: deliveryLookup,
    notes: ['A delivery that is older than 24 hours is attempted once.'],
    examples: ['regen webhook resend msg_8a4c0a4e-4a2e-4f0e-9f0b-0c8f6a3f3a51'],
  },
  {
    usage: 'webhook cancel <deliveryId>',
    operation: 'webhook.cancel',
    explain: { deliveryId: DELIVERY_ID },
    lookup: deliveryLookup,
  },
];
