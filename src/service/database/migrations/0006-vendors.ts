import type { Migration } from '../migrate.js';

/** What a vendor that does a task said of it unasked. */
export const vendors: Migration = {
  number: 6,
  statements: ['alter table tasks add column callback text'],
};
