import { answerTasks, sendMessage } from '../disk/child-program.js';
import { type OnProgress, PreviewFailure, type PreviewMessage } from './job.js';

/** Does the work that the service sends to this process, and says how each ends. */
export function answerWork<Work>(
  work: (task: Work, onProgress: OnProgress) => Promise<unknown>,
): Promise<void> {
  return answerTasks(async (task) => {
    send({ part: 0 });
    try {
      send({ result: await work(task as Work, (part) => send({ part })) });
    } catch (error) {
      if (error instanceof PreviewFailure) send({ failure: error.message });
      else send(toDefect(error));
    }
  });
}

const send: (message: PreviewMessage) => void = sendMessage;

function toDefect(error: unknown): PreviewMessage {
  if (!(error instanceof Error)) return { defect: String(error), name: 'Error' };
  const { message, name, code, cause } = error as NodeJS.ErrnoException;
  const { code: causeCode } = (cause ?? {}) as NodeJS.ErrnoException;
  return { defect: message, name, code: code ?? causeCode };
}
