import { saveFlags, startFlags, taskExplain, waitFlags } from './generation.js';
import type { View } from './view.js';

const TASK_COLUMNS = ['id', 'task_id', 'operation', 'state', 'created_at', 'service'];

export const taskViews: readonly View[] = [
  {
    usage: 'task list',
    module: 'task-list',
    local: true,
    summary: 'List the tasks started from this machine, newest first, in their last known state',
    shape: { columns: TASK_COLUMNS },
    examples: ['regen task list', 'regen task list --json'],
  },
  {
    usage: 'task show <task_id>',
    module: 'task-show',
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
      { name: 'all', description: 'Wait for all unfinished tasks that were started from this machine' },
      ...saveFlags,
      ...waitFlags,
    ],
    examples: [
      'regen task wait --all -o results/',
      'for f in *.jpg; do regen image relight "$f" --no-wait; done | xargs regen task wait',
    ],
  },
  {
    usage: 'task download <task_id>',
    module: 'task-download',
    summary: 'Save the results of a task, and print their paths',
    explain: taskExplain,
    flags: saveFlags,
    examples: ['regen task download 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 -o results/ --receipt'],
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
