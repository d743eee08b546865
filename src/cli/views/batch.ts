import { saveFlags, waitFlags } from './generation.js';
import type { View } from './view.js';

export const batchViews: readonly View[] = [
  {
    usage: 'batch <jobs>',
    module: 'batch',
    changes: true,
    summary:
      'Run many image and video jobs, and print a result a line; run again, it goes on where it stopped',
    explain: { jobs: "File with a job a line, as JSON or CSV (.csv); '-' for standard input" },
    flags: [
      {
        name: 'concurrency',
        value: 'number',
        description: 'Tasks under way at a time (1 to 100; default 4)',
      },
      {
        name: 'max-credits',
        value: 'number',
        description: 'Send no job that could make the whole batch cost more; each is reserved at its price',
      },
      { name: 'retry-failed', description: 'Send jobs anew that failed in earlier runs' },
      {
        name: 'state',
        value: 'path',
        description: 'Where to keep what became of each job (default <jobs>.state)',
      },
      ...saveFlags,
      ...waitFlags,
    ],
    shape: { columns: ['line', 'id', 'status', 'task_id', 'credits', 'result'] },
    notes: [
      'A line holds "command", such as "image relight", and the names of its arguments and flags; nested objects and dotted names mean the same. Of CSV the first row has the names; an empty cell is not given.',
      'A job is known by its "id", else by what its line says. Paths are relative to the current folder. --output, --force, --receipt, --timeout and --interval are for lines that do not say otherwise; --output knows {line} and {id} as well.',
      'A result is line, id, status, task id, credits, and the URLs or paths, or what is wrong. A status is done, failed, or what a next run goes on with: running, unsaved, unanswered, unsent.',
    ],
    examples: [
      'regen batch jobs.jsonl -o out/',
      'regen batch jobs.csv --concurrency 8 --max-credits 500 --ndjson > results.ndjson',
    ],
  },
];
