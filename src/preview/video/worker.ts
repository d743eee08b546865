import { answerWork } from '../answer-work.js';
import { render } from './render.js';

// The process that makes one video.
void answerWork(render);
