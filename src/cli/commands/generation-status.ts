import type { z } from 'zod';
import { listTaskOperations } from '../../contract/index.js';
import { regen, say } from '../../contract/schema/message.js';
import type { VideoCreations } from '../../contract/video.js';
import { findTask, readTask } from '../../flows/tasks/task.js';
import { readText } from '../command/command.js';
import { toKebabCase } from '../command/flags.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import { taskExplain } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'output' | 'signal' | 'ledger' | 'services'>;

export const view = (): View[] => [
  {
    usage: 'image status <task_id>',
    summary: 'Show the status of an image task',
    explain: taskExplain,
    flags: {
      '--kind <choice>': {
        description: 'Kind of the task, if it was not started from this machine (default: try each)',
        choices: ['relight', 'style-transfer', 'skin-enhancer', 'upscaler'],
      },
    },
    examples: ['regen image status 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 --kind relight'],
  },
  {
    usage: 'video status <task_id>',
    summary: 'Show the state and results of a video task',
    explain: taskExplain,
    examples: ['regen video status 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 --json'],
  },
];

export async function run(context: Context): Promise<void> {
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
  const { sent, state, outputs, facts } = await readTask(context, task);
  if (output.mode.json) return output.answer(sent);
  if (task.kind === 'video') return output.answer(toRows(sent as z.infer<typeof VideoCreations>));
  const { err_code, reason } = facts;
  await output.answer({ generated: outputs, status: state, task_id: task.id, err_code, reason });
}

/** The operations that may have started the task. */
function readStarts(context: Needs<'command' | 'flags'>): readonly string[] {
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
