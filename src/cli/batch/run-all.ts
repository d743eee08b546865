import { type Batch, type End, runJob } from './run-job.js';
import type { WrittenJob } from './written-job.js';

/** Runs jobs, so many at a time; the next one is read when there is a place for it, and `tell` hears of each end. */
export async function runAll(
  batch: Batch,
  jobs: AsyncGenerator<WrittenJob>,
  atOnce: number,
  tell: (job: WrittenJob, end: End) => Promise<void>,
): Promise<void> {
  const { board, patience } = batch;
  const work = async () => {
    while (!patience.isOver) {
      const next = await jobs.next();
      if (next.done) return;
      board.began();
      const end = await runJob(batch, next.value);
      await tell(next.value, end);
    }
  };
  // What ends one worker ends all, and nothing is written after the last of them.
  const workers = Array.from({ length: atOnce }, () =>
    work().catch((error: unknown) => {
      patience.end();
      throw error;
    }),
  );
  const broken = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected');
  if (broken) throw (broken as PromiseRejectedResult).reason;
}
