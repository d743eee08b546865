import { parentPort, workerData } from 'node:worker_threads';
import { EngineFailure } from '../../engine.js';
import type { Message, Work } from './local-image.js';
import { render } from './render.js';

// A thread of its own: started by local-image.ts with one task; its last message is the result or why there is none.
const { job, stop } = workerData as Work;
const flag = new Int32Array(stop);
const say = (message: Message) => parentPort?.postMessage(message);

try {
  const result = await render(job, (part) => {
    if (Atomics.load(flag, 0) === 1) throw new Error('The work was stopped.');
    say({ part });
  });
  say({ result });
} catch (error) {
  if (!(error instanceof EngineFailure)) throw error;
  say({ failure: error.message });
}
