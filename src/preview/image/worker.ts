import { answerWork } from '../answer-work.js';
import type { ImageWork } from '../job.js';
import { loadSharp } from '../sharp.js';
import { inspectImage } from './inspect.js';
import { render } from './render.js';

// The process that decodes and edits images, one after the other.
try {
  loadSharp();
} catch {
  // A missing library is reported with the first image.
}
void answerWork((work: ImageWork, onProgress) =>
  'job' in work ? render(work.job, onProgress) : inspectImage(work.inspect),
);
