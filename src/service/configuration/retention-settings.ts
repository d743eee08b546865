import { z } from 'zod';

/** Answers to idempotency keys and signed URLs are promised for a week, so nothing ends earlier. */
export const LEAST_DAYS = 7;

const days = (standard: number | false, description: string) =>
  z
    .union([z.int().min(LEAST_DAYS).max(36_500), z.literal(false)], {
      error: `must be a whole number of days from ${LEAST_DAYS}, or false`,
    })
    .default(standard)
    .describe(description);

/** For how many days what is kept. */
export const RetentionSettings = z
  .strictObject({
    results: days(
      90,
      'Days after its start for which a task links to its files; they are removed a week later, when the last link has expired',
    ),
    tasks: days(
      365,
      'Days after its start for which a task can be read, if its files are removed or it has none',
    ),
    deliveries: days(30, 'Days for which webhook deliveries that have ended are listed'),
    events: days(1_095, 'Days for which the audit log is kept; the histories of versions are kept longer'),
    deletedArchives: days(30, 'Days after which the archive of a deleted version or node is removed'),
    bannedArchives: days(false, 'Days after which the archive of a banned version is removed'),
  })
  .prefault({})
  .describe('Days after which data is removed, once a day; false keeps it');

export type RetentionSettings = z.output<typeof RetentionSettings>;
