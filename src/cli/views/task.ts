import { saveFlags, startFlags, taskExplain, waitFlags } from './generation.js';
import type { View } from './view.js';

const columns = ['id', 'task_id', 'operation', 'state', 'created_at', 'service'];

export const taskViews: readonly View[] = [
  {
    usage: 'task list',
    module: 'task-list',
    local: true,
    summary: 'List the tasks started from here, newest first, as they were last seen',
    shape: { columns },
    examples: ['regen task list', 'regen task list --json'],
  },
  {
    usage: 'task show <task_id>',
    module: 'task-show',
    local: true,
    summary: 'Show what is known here of a task: request, state, results',
    explain: taskExplain,
    examples: ['regen task show 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 --json'],
  },
  {
    usage: 'task wait [task_id...]',
    module: 'task-wait',
    summary: 'Wait until tasks have ended; their output URLs are on stdout',
    explain: taskExplain,
    flags: [
      { name: 'all', description: 'Every task started from here that has not ended yet' },
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
    summary: 'Save what a task made; the saved paths are on stdout',
    explain: taskExplain,
    flags: saveFlags,
    examples: ['regen task download 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 -o results/ --receipt'],
  },
  {
    usage: 'task rerun <task_id>',
    module: 'task-rerun',
    changes: true,
    summary: 'Send the request of a task again; of one that was answered it is a new task, paid for again',
    explain: taskExplain,
    flags: startFlags,
    examples: ['regen task rerun 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 -o again.png'],
  },
];
