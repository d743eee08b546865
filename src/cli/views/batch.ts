import { flag } from '../command/flags.js';
import { batchSaveFlags, waitFlags } from './generation.js';
import type { View } from './view.js';

export const batchViews: readonly View[] = [
  {
    usage: 'batch <jobs>',
    module: 'batch',
    changes: true,
    summary: 'Run many image and video jobs, and print one result per line; run the command again to resume',
    explain: { jobs: 'File with one job per line, as JSON or CSV (.csv); - for standard input' },
    flags: [
      flag('--concurrency <number>', 'Tasks to run in parallel (1 to 100; default 4)'),
      flag(
        '--max-credits <number>',
        'Maximum cost of the whole batch; a job is not sent if its price could exceed the rest',
      ),
      flag('--retry-failed', 'Retry jobs that failed in earlier runs'),
      flag('--state <path>', 'File that stores the state of each job (default <jobs>.state)'),
      ...batchSaveFlags,
      ...waitFlags,
    ],
    shape: {
      columns: ['line', 'id', 'status', 'task_id', 'credits', 'result'],
      less: ['credits', 'task_id'],
    },
    notes: [
      'Each line has a "command", such as "image relight", and its arguments and flags by name; nested objects and dotted names are equivalent. In CSV, the cells of a row are separated by commas or semicolons, the first row has the names, and an empty cell sets nothing.',
      'A job is identified by its "id", or by the content of its line. Paths are relative to the current folder. --output, --force, --receipt, --timeout and --interval apply to lines that do not set them.',
      'A result has the line, id, status, task id and credits, and then the URLs or paths, or the error. The status is done or failed, or one that the next run resumes: running, unsaved, unanswered or unsent.',
    ],
    examples: [
      'regen batch jobs.jsonl -o out/',
      'regen batch jobs.csv --concurrency 8 --max-credits 500 --ndjson > results.ndjson',
    ],
  },
];
