import { statfs } from 'node:fs/promises';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';

/** How long an answer is given again, so that anonymous requests cannot keep the disk busy. */
const REPEATED_MS = 1_000;

/**
 * Checks whether the service can take work: the database can be written, and its disk has space.
 * @param isRunning false while it starts or stops
 * @returns a check that throws Refused if it cannot
 */
export function createReadinessCheck(context: Context, isRunning: () => boolean): () => Promise<void> {
  let last: { readonly at: number; readonly result: Promise<void> } | undefined;
  return async () => {
    if (!isRunning()) throw new Refused('unavailable', 'The service is starting or stopping.');
    if (!last || performance.now() - last.at > REPEATED_MS)
      last = { at: performance.now(), result: checkResources(context) };
    await last.result;
  };
}

async function checkResources({ configuration, database, scratch }: Context): Promise<void> {
  const { bavail, bsize } = await statfs(scratch);
  if (bavail * bsize < configuration.minFreeDiskBytes)
    throw new Refused('unavailable', 'The disk of the service is almost full.');
  // Fails if the file is lost, cannot be written or is locked. The value stays as it was.
  await database.transaction().execute(async (tx) => {
    await tx
      .updateTable('totals')
      .set(({ ref }) => ({ value: ref('value') }))
      .execute();
  });
}
