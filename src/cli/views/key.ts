import { csvFlag, USAGE_SHAPE } from './admin.js';
import type { View } from './view.js';

const KEY_ID: Pick<View, 'explain' | 'lookup'> = {
  explain: { keyId: 'Key id, or the beginning of it, as shown by `regen key list`' },
  lookup: { keyId: { operation: 'key.list', field: 'id' } },
};

export const keyViews: readonly View[] = [
  {
    usage: 'key create [name]',
    operation: 'key.create',
    shape: { only: 'token' },
    notes: ['Give the key to the script as REGEN_TOKEN. To publish, a script needs a personal access token.'],
    examples: [
      'regen key create "photo import" --credits-per-month 500 --output-file key.txt',
      'regen key create upscaling --operations image.upscaler,image.relight --expires-at 2027-01-01 --output-file key.txt',
    ],
  },
  {
    usage: 'key list',
    operation: 'key.list',
    shape: {
      columns: [
        ...['id', 'name', 'token', 'operations', 'budget.credits_per_month', 'budget.used'],
        ...['created_at', 'expires_at', 'last_used_at', 'total.credits', 'total.used'],
      ],
      ids: ['id'],
      less: ['token', 'created_at', 'operations', 'last_used_at'],
    },
  },
  { usage: 'key update <keyId>', operation: 'key.update', ...KEY_ID },
  { usage: 'key revoke <keyId>', operation: 'key.revoke', ...KEY_ID },
  {
    usage: 'usage',
    operation: 'user.usage',
    shape: USAGE_SHAPE,
    flags: { ...csvFlag },
    notes: ['With --json, budget says what is left of your month, if there is a limit.'],
    examples: ['regen usage', 'regen usage --by day --by model --from 2026-01-01 --csv > usage.csv'],
  },
];
