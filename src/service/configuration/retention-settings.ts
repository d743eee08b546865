import { z } from 'zod';
import { measure } from './measure.js';

/** Answers to idempotency keys and signed URLs are promised for a week, so nothing ends earlier. */
export const LEAST_DAYS = 7;

const days = (standard: number | false, description: string) =>
  measure(
    'days',
    z.union([z.int().min(LEAST_DAYS).max(36_500), z.literal(false)], {
      error: `must be a whole number of days from ${LEAST_DAYS}, or false`,
    }),
  )
    .default(standard)
    .describe(description);

/** For how many days what is kept. */
export const RetentionSettings = z
  .strictObject({
    results: days(
      90,
      'How long after its start a task links to its files; they are removed a week later, when the last link has expired',
    ),
    tasks: days(365, 'How long after its start a task can be read, if its files are removed or it has none'),
    deliveries: days(30, 'How long webhook deliveries that have ended are listed'),
    events: days(
      1_095,
      'How long the audit log is kept; the histories of versions and public changes are kept longer',
    ),
    deletedArchives: days(30, 'When the archive of a deleted version or node is removed'),
    bannedArchives: days(false, 'When the archive of a banned version is removed'),
  })
  .prefault({})
  .describe('How long data is kept; false keeps it forever');

export type RetentionSettings = z.output<typeof RetentionSettings>;
