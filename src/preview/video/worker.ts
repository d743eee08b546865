import { lowerPriority } from '../../disk/priority.js';
import type { PreviewMessage } from '../job.js';
import { PreviewFailure, type PreviewJob } from '../job.js';
import { render } from './render.js';

// A process for one task, which is sent to it. Its last message is the result or the reason for a failure.
/** The limits for reading a source video; generating one takes a third. Time is that of the CPU: the machine may be busy. */
const MAX_BYTES = 900_000_000;
const [maxCpuMs = 20 * 60_000] = process.argv.slice(2).map(Number);
/** A decoder that waits forever uses hardly any; the task is tried again. */
const STALLED_MS = 2 * 60 * 60_000;

const sendMessage = (message: PreviewMessage) => void process.send?.(message);
// The parent process has ended.
process.once('disconnect', () => process.exit());
process.once('message', async (job: PreviewJob<'video'>) => {
  // The service takes precedence.
  lowerPriority();
  if (job.images.video !== undefined) limitResources();
  try {
    sendMessage({ result: await render(job, (part) => sendMessage({ part })) });
  } catch (error) {
    if (error instanceof PreviewFailure) sendMessage({ failure: error.message });
    else sendMessage({ defect: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});

/** The headers of a file may not show how much memory and time reading it takes. */
function limitResources(): void {
  const end = (message: PreviewMessage) => void process.send?.(message, () => process.exit());
  setTimeout(() => end({ defect: 'Reading the video did not end.' }), STALLED_MS).unref();
  setInterval(() => {
    const { user, system } = process.cpuUsage();
    if (process.memoryUsage.rss() > MAX_BYTES) end({ failure: 'The video takes too much memory to read.' });
    else if ((user + system) / 1000 > maxCpuMs) end({ failure: 'The video takes too long to read.' });
  }, 200).unref();
}
