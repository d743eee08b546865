import { z } from 'zod';
import { defineObject } from './schema/values.js';

/** Why a task failed, in answers to those who look at it. */
export const failureFields = {
  err_code: z.string().optional().describe('Why the task failed, for programs'),
  reason: z.string().optional().describe('Why the task failed, in a sentence'),
};

/** service.md 2.5. Decided: CREATED → IN_PROGRESS → COMPLETED or FAILED; other values mean still running. */
export const ImageTask = defineObject('ImageTask', {
  generated: z.array(z.string()).describe('Output URLs'),
  status: z.string().meta({
    description: 'Task status',
    examples: ['CREATED', 'IN_PROGRESS', 'COMPLETED', 'FAILED'],
  }),
  task_id: z.string().describe('Task identifier'),
  ...failureFields,
});

export type ImageTask = z.infer<typeof ImageTask>;

/** The response of relight, upscaler and skin enhancer (service.md 2.5). */
export const WrappedImageTask = z.object({ data: ImageTask });

/** The task in a response of either form: services differ in the two status operations that are extensions. */
export function unwrapImageTask(answer: ImageTask | z.infer<typeof WrappedImageTask>): ImageTask {
  return 'data' in answer ? answer.data : answer;
}
