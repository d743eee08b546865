import { ServiceError } from '../../client/errors.js';
import type { Entry } from '../../flows/tasks/ledger.js';
import { findEntry, findTarget, findTask, readTask, type Task, toTask } from '../../flows/tasks/task.js';
import { findEnd } from '../../flows/tasks/task-state.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import { finishTask, planFinish, type TaskOutcome } from '../generation/finish-task.js';
import { runAll, Watch } from '../generation/run-tasks.js';
import { exitCodes, type Failure, usage } from '../terminal/failure.js';
import { readAll } from '../terminal/stdin.js';
import { formatCount } from '../terminal/text.js';
import { describeAnyTask } from '../views/answers.js';
import { openFlag, saveFlags, taskExplain, waitFlags } from '../views/flags.js';
import type { View } from '../views/view.js';
import { Resume } from './generate.js';

type Context = Needs<
  'command' | 'args' | 'flags' | 'system' | 'output' | 'interruption' | 'signal' | 'ledger' | 'services'
>;

export const view = (): View => ({
  usage: 'task wait [task_id...]',
  summary: 'Wait for tasks to end, and print their output URLs',
  explain: taskExplain,
  flags: {
    '--all': 'Wait for all unfinished tasks that were started from this machine',
    ...saveFlags,
    ...openFlag,
    ...waitFlags,
  },
  examples: [
    'regen task wait --all -o results/',
    'regen task list --state running --jq ".[].task_id" | regen task wait - -o results/',
    'for f in *.jpg; do regen image relight "$f" --no-wait; done | xargs regen task wait',
  ],
  answer: describeAnyTask(),
});

export async function run(context: Context): Promise<number> {
  const all = context.flags.all === true;
  const ids = all ? await listOpenIds(context) : await readIds(context);
  const watch = new Watch(context.output, ids.length);
  const entries = ids.map((id) => findEntry(context, id));
  const awaiting = planFinish(context, watch, {
    count: ids.length,
    offPeak: entries.some((entry) => entry?.request.off_peak === true),
  });
  awaiting.destination?.check(entries.map((entry) => entry?.name ?? 'image'));
  const resume = new Resume(context);
  for (const id of ids) resume.add(id);
  try {
    await watch.stage(ids.length === 1 ? `Waiting for ${ids[0]}` : `Waiting for ${ids.length} tasks`);
    const items = ids.map((id, at) => ({
      label: id,
      target: entries[at] && findTarget(context, entries[at]),
      run: async () => {
        const task = await findTask(context, id);
        const destination = awaiting.destination?.at(at + 1);
        const outcome = finishTask({ ...awaiting, destination }, task);
        const ended = await (all ? outcome.catch((error) => giveUp(context, task, error)) : outcome);
        resume.remove(id);
        return ended;
      },
    }));
    return await runAll(context, watch, items);
  } finally {
    watch.end();
  }
}

/** The tasks of the arguments; `-` stands for the words on standard input. */
async function readIds(context: Context): Promise<string[]> {
  const typed = (context.args.task_id as readonly string[] | undefined) ?? [];
  const piped = typed.includes('-') ? (await readAll(context.system.stdin)).split(/\s+/).filter(Boolean) : [];
  const given = [...new Set([...typed.filter((id) => id !== '-'), ...piped])];
  const wrong = given.find((id) => id === '' || /^\.{1,2}$|[\p{Cc}\p{Cs}]/u.test(id));
  if (wrong !== undefined) throw usage(`'${wrong}' is not a task id.`, 'See: regen task list');
  if (given.length > 0) return given.map((id) => findEntry(context, id)?.task_id ?? id);
  throw usage(
    'No tasks given.',
    'Pass their ids, - to read them from stdin, or --all for all unfinished tasks.',
  );
}

/** The ids of all unfinished tasks, oldest first. */
async function listOpenIds(context: Context): Promise<string[]> {
  if ((context.args.task_id?.length ?? 0) > 0) throw usage('<task_id> and --all cannot be used together.');
  const open = [...context.ledger.entries()].filter(({ state, task_id }) => task_id && !findEnd(state));
  const entries = await skipUnreachable(context, open.reverse());
  return entries.flatMap(({ task_id }) => task_id ?? []);
}

/**
 * Skips entries whose services cannot be reached, with a warning. They stay in the ledger.
 * @throws Failure if no service can be reached
 */
async function skipUnreachable(context: Context, entries: readonly Entry[]): Promise<Entry[]> {
  const firsts = new Map([...entries].reverse().map((entry) => [entry.service, entry]));
  const lost = new Map<string, Failure>();
  const look = async (entry: Entry) => {
    try {
      await readTask(context, toTask(context, entry));
    } catch (error) {
      context.signal.throwIfAborted();
      const failure = toFailure(error);
      if (failure.facts.exit === exitCodes.unreachable) lost.set(entry.service, failure);
    }
  };
  await Promise.all([...firsts.values()].map(look));
  const reached = entries.filter(({ service }) => !lost.has(service));
  const [failure] = lost.values();
  if (failure && reached.length === 0) throw failure;
  for (const service of lost.keys()) {
    const count = entries.filter((entry) => entry.service === service).length;
    await context.output.warn(`Could not reach ${service}; skipped ${formatCount(count, 'task')}.`);
  }
  return reached;
}

/**
 * Ends a task that its service no longer has, so that it is not polled again.
 * @throws any other error
 */
async function giveUp(context: Needs<'output' | 'ledger'>, { id, entry, target }: Task, error: unknown) {
  if (!entry || !(error instanceof ServiceError) || error.status !== 404) throw error;
  await context.ledger.change(entry.id, { state: 'GONE' });
  await context.output.warn(`${target.name} no longer has task ${id}; skipped it.`);
  return { lines: [], answer: {} } satisfies TaskOutcome;
}
