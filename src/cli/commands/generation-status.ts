import type { z } from 'zod';
import type { VideoCreations } from '../../contract/video.js';
import { usage } from '../failure.js';
import { mediumOf } from '../generation/seen.js';
import { anyVideo, findTask, imageKinds, readTask } from '../generation/task.js';
import type { Invocation } from '../invocation.js';

/** Shows an image or video task as its service has it now. */
export async function run(invocation: Invocation): Promise<void> {
  const { args, output } = invocation;
  const kinds = kindsOf(invocation);
  const id = args.task_id as string | undefined;
  if (!id) throw usage('<task_id> is required.', 'See what was started from here: regen task list');
  const task = await findTask(invocation, id, kinds);
  const { answer, state, outputs } = await readTask(invocation, task);
  if (output.mode.json) return output.answer(answer);
  if (mediumOf(task.operation) === 'video')
    return output.answer(inRows(answer as z.infer<typeof VideoCreations>));
  await output.answer({ generated: outputs, status: state, task_id: task.id });
}

function kindsOf(invocation: Invocation): string[] {
  if (invocation.command.words[0] === 'video') return [anyVideo];
  const kind = invocation.text('kind');
  if (kind === undefined) return Object.values(imageKinds);
  const operation = Object.hasOwn(imageKinds, kind) ? imageKinds[kind] : undefined;
  if (operation) return [operation];
  throw usage(`--kind must be one of ${Object.keys(imageKinds).join(', ')}.`);
}

/** Each creation's parts in rows of their own, counted from 1. */
function inRows({ creations, ...task }: z.infer<typeof VideoCreations>): object {
  const counted = (creations ?? []).map((creation, at) => [at + 1, creation]);
  return { ...task, creations: Object.fromEntries(counted) };
}
