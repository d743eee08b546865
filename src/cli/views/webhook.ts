import type { View } from './view.js';

const DELIVERY_ID = 'Id of the delivery, as shown by `regen webhook deliveries`';
const deliveryLookup = { deliveryId: { operation: 'webhook.deliveries', field: 'id' } } as const;

export const webhookViews: readonly View[] = [
  {
    usage: 'webhook deliveries [task_id]',
    operation: 'webhook.deliveries',
    summary: 'List the sent and pending deliveries of your webhooks, newest first',
    explain: { task_id: 'Only deliveries for this task' },
    lookup: { task_id: { operation: 'webhook.deliveries', field: 'task_id' } },
    shape: {
      columns: ['id', 'task_id', 'state', 'status', 'attempts', 'next_at', 'reason', 'url'],
      ids: ['id', 'task_id'],
      less: ['task_id', 'url', 'attempts', 'next_at', 'reason'],
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
