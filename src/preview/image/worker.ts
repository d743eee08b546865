import { workerData } from 'node:worker_threads';
import { answerWork } from '../answer-work.js';
import type { ImageWork } from '../job.js';
import { loadSharp } from '../sharp.js';
import { inspectImage } from './inspect.js';
import { paintRows, type SharedPainting } from './paint.js';
import { render } from './render.js';

// The process that decodes and edits images, one after the other, or a thread of it that helps to paint one.
const painting = workerData as SharedPainting | undefined;
if (painting) paintRows(painting, () => {});
else {
  // What is missing is told with the first image.
  await loadSharp().catch(() => {});
  void answerWork((work: ImageWork, onProgress) =>
    'job' in work ? render(work.job, onProgress) : inspectImage(work.inspect),
  );
}
