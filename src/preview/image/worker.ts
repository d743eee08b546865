import { once } from 'node:events';
import { type MessagePort, parentPort } from 'node:worker_threads';
import type { ImageWorkerData, PreviewMessage } from '../job.js';
import { PreviewFailure } from '../job.js';
import { loadSharp } from '../sharp.js';
import { render } from './render.js';

// A worker thread for one task, whose last message is the result or the reason for a failure. A thread may be started before
// there is a task for it; a message without a task ends it.
await loadSharp();
const [data] = await once(parentPort as MessagePort, 'message');
if (data) await runJob(data as ImageWorkerData);

async function runJob({ job, stop }: ImageWorkerData): Promise<void> {
  const flag = new Int32Array(stop);
  const sendMessage = (message: PreviewMessage) => parentPort?.postMessage(message);
  try {
    const result = await render(job, (part) => {
      if (Atomics.load(flag, 0) === 1) throw new Error('The task was stopped.');
      sendMessage({ part });
    });
    sendMessage({ result });
  } catch (error) {
    if (!(error instanceof PreviewFailure)) throw error;
    sendMessage({ failure: error.message });
  }
}
