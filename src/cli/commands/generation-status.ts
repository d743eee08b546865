import type { z } from 'zod';
import { listTaskOperations } from '../../contract/index.js';
import { regen, say } from '../../contract/schema/message.js';
import type { VideoCreations } from '../../contract/video.js';
import { findTask, readTask } from '../../flows/tasks/task.js';
import { readText } from '../command/command.js';
import { toKebabCase } from '../command/flags.js';
import type { CommandContext } from '../connect/context.js';
import { usage } from '../terminal/failure.js';

export async function run(context: CommandContext): Promise<void> {
  const { args, output } = context;
  const starts = readStarts(context);
  const id = args.task_id as string | undefined;
  if (!id)
    throw usage(
      '<task_id> is required.',
      say`List the tasks that were started from here with: ${regen('task list')}`,
    );
  const task = await findTask(context, id, starts);
  context.services.use(task.target);
  const { sent, state, outputs } = await readTask(context, task);
  if (output.mode.json) return output.answer(sent);
  if (task.kind === 'video') return output.answer(toRows(sent as z.infer<typeof VideoCreations>));
  await output.answer({ generated: outputs, status: state, task_id: task.id });
}

/** The operations that may have started the task. */
function readStarts(context: CommandContext): readonly string[] {
  if (context.command.words[0] === 'video') return listTaskOperations('video');
  const kind = readText(context.flags, 'kind');
  if (kind === undefined) return listTaskOperations('image');
  const operations = new Map(
    listTaskOperations('image').map((name) => [toKebabCase(name.replace('image.', '')), name]),
  );
  const operation = operations.get(kind);
  if (operation) return [operation];
  throw usage(`--kind must be one of ${[...operations.keys()].join(', ')}.`);
}

/** Puts the fields of each creation in separate rows, numbered from 1. */
function toRows({ creations, ...task }: z.infer<typeof VideoCreations>): object {
  const counted = (creations ?? []).map((creation, at) => [at + 1, creation]);
  return { ...task, creations: Object.fromEntries(counted) };
}
