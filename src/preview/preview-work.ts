import type { ChildWork } from '../disk/limited-child.js';
import { type OnProgress, PreviewFailure, type PreviewMessage } from './job.js';
import { PackageMissing } from './packages.js';

/**
 * Work for the process of images or videos. It fails with PreviewFailure, PackageMissing, or the error of the machine.
 * @param task what its program is asked for
 */
export function createPreviewWork<Result>(
  task: object,
  {
    signal,
    progress = () => {},
  }: { readonly signal?: AbortSignal | undefined; readonly progress?: OnProgress },
): ChildWork<Result> {
  return {
    task,
    signal,
    receive: (received) => {
      const message = received as PreviewMessage;
      if ('result' in message) return { result: message.result as Result };
      if ('failure' in message) throw new PreviewFailure(message.failure);
      if ('defect' in message) {
        const { defect, name, code } = message;
        if (name === 'PackageMissing') throw new PackageMissing(defect);
        throw Object.assign(new Error(defect), { name, ...(code !== undefined && { code }) });
      }
      progress(message.part);
      return undefined;
    },
  };
}
