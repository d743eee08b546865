import { setPriority } from 'node:os';
import { EngineFailure, type EngineJob, type VideoOperation } from '../../engine.js';
import type { Message } from './local-video.js';
import { render } from './render.js';

// A process of its own: started by local-video.ts, which sends one task; its last message is the result or why there is none.
const lowPriority = 10;
/** What videos that are given may take; those made here take a third. */
const mostBytes = 900_000_000;
const mostMs = 10 * 60_000;

const say = (message: Message) => void process.send?.(message);
// Whoever wanted the video is gone, however it ended.
process.once('disconnect', () => process.exit());
process.once('message', async (job: EngineJob<VideoOperation>) => {
  // The service answers first.
  setPriority(lowPriority);
  if (job.images.video !== undefined) limit();
  try {
    say({ result: await render(job, (part) => say({ part })) });
  } catch (error) {
    if (error instanceof EngineFailure) say({ failure: { message: error.message, code: error.code } });
    else say({ defect: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});

/** A file that others made may say little of what it takes to read it. */
function limit(): void {
  const { code } = new EngineFailure('');
  const give = (message: string) => {
    process.send?.({ failure: { message, code } } satisfies Message, () => process.exit());
  };
  setTimeout(() => give('The video takes too long to read.'), mostMs).unref();
  setInterval(() => {
    if (process.memoryUsage.rss() > mostBytes) give('The video takes too much memory to read.');
  }, 200).unref();
}
