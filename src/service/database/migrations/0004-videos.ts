import type { Migration } from '../migrate.js';

/** Tasks that make videos, run by jobs of their own. */
export const videos: Migration = {
  number: 4,
  statements: [
    'alter table tasks add column error_code text',
    'alter table tasks add column memory text',
    "update jobs set kind = 'run-image-task' where kind = 'run-task'",
  ],
};
