import { flag } from '../command/flags.js';
import { openFlag, saveFlags, startFlags, taskExplain, waitFlags } from './generation.js';
import type { View } from './view.js';

export const taskViews: readonly View[] = [
  {
    usage: 'task list',
    module: 'task-ledger',
    local: true,
    summary: 'List the tasks started from this machine, newest first, in their last known state',
    flags: [
      flag('--state <choice>', 'Only tasks in this state; can be repeated', {
        choices: ['queued', 'running', 'done', 'failed', 'gone'],
        repeat: true,
      }),
      flag('--kind <text>', 'Only image or video tasks, or those of one command such as relight'),
      flag('--since <time>', 'Only tasks started within this time, such as 24h, or since a date'),
      flag('--service <text>', "Only tasks of this service: 'local' or a part of its address"),
      flag('--limit <number>', 'At most this many tasks'),
    ],
    shape: {
      columns: ['id', 'task_id', 'operation', 'state', 'created_at', 'service'],
      less: ['service', 'result'],
    },
    examples: [
      'regen task list --state running',
      'regen task list --kind video --since 7d --jq "map(.credits) | add"',
    ],
  },
  {
    usage: 'task show <task_id>',
    module: 'task-ledger',
    local: true,
    summary: 'Show the local record of a task: request, state, results',
    explain: taskExplain,
    examples: ['regen task show 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 --json'],
  },
  {
    usage: 'task wait [task_id...]',
    module: 'task-wait',
    summary: 'Wait for tasks to end, and print their output URLs',
    explain: taskExplain,
    flags: [
      flag('--all', 'Wait for all unfinished tasks that were started from this machine'),
      ...saveFlags,
      openFlag,
      ...waitFlags,
    ],
    examples: [
      'regen task wait --all -o results/',
      'regen task list --state running --jq ".[].task_id" | regen task wait - -o results/',
      'for f in *.jpg; do regen image relight "$f" --no-wait; done | xargs regen task wait',
    ],
  },
  {
    usage: 'task download <task_id>',
    module: 'task-download',
    summary: 'Save the results of a task, and print their paths',
    explain: taskExplain,
    flags: [...saveFlags, openFlag],
    examples: ['regen task download 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 -o results/ --receipt'],
  },
  {
    usage: 'task cancel <task_id...>',
    module: 'task-cancel',
    changes: true,
    summary: 'Cancel tasks that have not ended; credits of tasks that were not started are refunded',
    explain: taskExplain,
    flags: [],
    shape: { columns: ['task_id', 'status', 'credits', 'reason'] },
    examples: [
      'regen task cancel @last',
      'regen task list --state running --jq ".[].task_id" | xargs regen task cancel',
    ],
  },
  {
    usage: 'task forget <task_id...>',
    module: 'task-ledger',
    local: true,
    destroys: {
      action: 'Remove {tasks} from the list on this machine',
      loss: 'Their requests are not recorded anywhere else.',
    },
    summary: 'Remove tasks from the list on this machine; their results stay where they are',
    explain: taskExplain,
    flags: [flag('--force', 'Forget tasks that have not ended, too')],
    examples: [
      'regen task forget @last',
      'regen task list --state failed --jq ".[].id" | xargs regen task forget --yes',
    ],
  },
  {
    usage: 'task rerun <task_id>',
    module: 'task-rerun',
    changes: true,
    summary:
      'Send the request of a task again; if it was answered before, this is a new task with a new charge',
    explain: taskExplain,
    flags: startFlags,
    examples: ['regen task rerun 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 -o again.png'],
  },
];
