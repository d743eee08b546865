import { setPriority } from 'node:os';
import { EngineFailure, type EngineJob, type VideoOperation } from '../../engine.js';
import type { Message } from './local-video.js';
import { render } from './render.js';

// A process of its own: started by local-video.ts, which sends one task; its last message is the result or why there is none.
const lowPriority = 10;

const say = (message: Message) => void process.send?.(message);
// Whoever wanted the video is gone, however it ended.
process.once('disconnect', () => process.exit());
process.once('message', async (job: EngineJob<VideoOperation>) => {
  // The service answers first.
  setPriority(lowPriority);
  try {
    say({ result: await render(job, (part) => say({ part })) });
  } catch (error) {
    if (error instanceof EngineFailure) say({ failure: { message: error.message, code: error.code } });
    else say({ defect: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
