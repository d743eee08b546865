import type { z } from 'zod';
import { ExtendTask, VideoTask } from '../../contract/video.js';
import type { NewTask } from './new-task.js';

/** A new video task as its start answers it: with what was asked for, and what stands for what was not. */
export function videoTask({
  id,
  operation,
  request,
  seed,
  credits,
  createdAt,
}: NewTask): z.output<typeof VideoTask> {
  const { images, ...fields } = request as { images?: string[] };
  const schema = operation === 'video.extend' ? ExtendTask : VideoTask;
  // Fields that an answer does not have are left out by this.
  return schema.parse({
    ...fields,
    // Decided: images come back where all are URLs; nobody wants megabytes of Base64 again.
    ...(images?.every((image) => /^https?:/i.test(image)) && { images }),
    seed,
    task_id: id,
    state: 'created',
    credits,
    created_at: createdAt,
  });
}
