import type { Flag } from '../command/command.js';

/** How long a command waits for a task, and how often it looks. */
export const waitFlags: readonly Flag[] = [
  {
    name: 'timeout',
    value: 'duration',
    description: 'How long to wait, such as 90s or 2h (default 30m, off-peak 48h); the task goes on',
  },
  {
    name: 'interval',
    value: 'duration',
    description: 'Longest pause between two looks at the status (default 10s)',
  },
];

/** Where a command leaves what a task made. */
export const saveFlags: readonly Flag[] = [
  {
    name: 'output',
    short: 'o',
    value: 'path',
    description:
      'Save the results: a file, a folder/, or a pattern with {name}, {task_id}, {index} and {ext}; the saved paths are then on stdout',
  },
  { name: 'force', description: 'Write over existing files' },
  {
    name: 'receipt',
    description: 'Write <file>.receipt.json beside each saved file: request, seed, task id, credits, SHA-256',
  },
];

export const noWait: Flag = {
  name: 'no-wait',
  description: 'Print the task id and return; `regen task wait` goes on from there',
};

const again: Flag = {
  name: 'again',
  description: 'Start a new task, even if an interrupted run of the same command left one unfinished',
};

/** What a command may spend. */
export const priceFlags: readonly Flag[] = [
  {
    name: 'max-credits',
    value: 'number',
    description: 'Refuse to start what costs more credits than this in all',
  },
  {
    name: 'yes',
    short: 'y',
    description: 'Do not ask about a price above the setting confirm_credits',
  },
];

/** Of every command that starts tasks. */
export const startFlags: readonly Flag[] = [...saveFlags, noWait, again, ...waitFlags, ...priceFlags];

export const taskExplain = { task_id: 'Task id, or the local id that `regen task list` shows' };
