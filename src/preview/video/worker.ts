import { answerWork } from '../answer-work.js';
import type { PreviewJob } from '../job.js';
import { render } from './render.js';

// The process that makes one video.
void answerWork((job: PreviewJob<'video'>, onProgress) => render(job, onProgress));
