import type { Flag } from '../command/command.js';
import type { View } from './view.js';

const secretFile: Flag = {
  name: 'secret-file',
  value: 'path',
  description:
    'File that holds the signing secret (default: REGEN_WEBHOOK_SECRET, else the service tells it)',
};

export const webhookViews: readonly View[] = [
  {
    usage: 'webhook listen',
    module: 'webhook-listen',
    summary:
      'Receive webhooks on this machine, verify them, and print one a line (NDJSON with --json); run commands, pass them on',
    flags: [
      { name: 'port', value: 'number', description: 'Port to listen on, 0 for a free one (default 0)' },
      {
        name: 'public-url',
        value: 'url',
        description: 'Address at which others reach this listener, such as that of a tunnel',
      },
      {
        name: 'forward-to',
        value: 'url',
        description: 'Send each on, byte by byte with its headers; what is answered is passed back',
      },
      {
        name: 'exec',
        value: 'command',
        description:
          'Run a command of the shell for each: the body on its standard input, REGEN_WEBHOOK_EVENT, _ID, _TASK_ID and _STATE in its environment; unless it exits 0 the webhook is sent again',
      },
      {
        name: 'until',
        value: 'task_id',
        description: 'End when this task has ended, told by webhook or by its status; exit 6 when it failed',
      },
      {
        name: 'timeout',
        value: 'duration',
        description: 'With --until: how long to wait at most; exit 8 then',
      },
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
    summary: 'Say whether a webhook is genuine; where it is not, why (exit 2)',
    explain: {
      file: 'The request as it came: headers, an empty line, body; with the flags below the body alone',
    },
    flags: [
      { name: 'id', value: 'text', description: 'Its header webhook-id' },
      { name: 'timestamp', value: 'seconds', description: 'Its header webhook-timestamp' },
      { name: 'signature', value: 'text', description: 'Its header webhook-signature' },
      secretFile,
    ],
    examples: [
      'regen webhook verify request.txt',
      'regen webhook verify --id msg_1 --timestamp 1767225600 --signature v1,… < body.json',
    ],
  },
  {
    usage: 'webhook secret',
    module: 'webhook-secret',
    summary: 'Print the secret that signs your webhooks, or replace it',
    changes: true,
    flags: [
      { name: 'rotate', description: 'Make a new one; the old one signs, too, for 24 hours' },
      { name: 'show', description: 'Print it even to a terminal' },
    ],
    examples: ['regen webhook secret > webhook-secret.txt'],
  },
  {
    usage: 'webhook deliveries [task_id]',
    operation: 'webhook.deliveries',
    summary: 'List what your webhooks were told or are yet to be told, newest first',
    explain: { task_id: 'Of this task alone' },
    shape: { columns: ['id', 'task_id', 'state', 'status', 'attempts', 'next_at', 'reason', 'url'] },
    examples: ['regen webhook deliveries --json'],
  },
];
