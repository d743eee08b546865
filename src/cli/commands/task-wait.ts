import type { Invocation } from '../command/invocation.js';
import { endingOf, finish } from '../generation/await-task.js';
import { givenUp, withinReach } from '../generation/lost.js';
import { Resume } from '../generation/run.js';
import { together } from '../generation/run-all.js';
import { entryOf, findTask } from '../generation/task.js';
import { endOf } from '../generation/task-state.js';
import { Watch } from '../generation/watch.js';
import { usage } from '../terminal/failure.js';

/** Waits for tasks and brings home what they made. */
export async function run(invocation: Invocation): Promise<number> {
  const all = invocation.flags.all === true;
  const ids = all ? await everyId(invocation) : givenIds(invocation);
  const watch = new Watch(invocation);
  const entries = ids.map((id) => entryOf(invocation, id));
  const ending = endingOf(
    invocation,
    watch,
    entries.some((entry) => entry?.request.off_peak === true),
  );
  ending.destination?.check(entries.map((entry) => entry?.name ?? 'image'));
  const resume = new Resume(invocation);
  for (const id of ids) resume.add(id);
  try {
    await watch.stage(ids.length === 1 ? `Waiting for ${ids[0]}` : `Waiting for ${ids.length} tasks`);
    const items = ids.map((id) => ({
      label: id,
      run: async () => {
        const task = await findTask(invocation, id);
        const outcome = finish(ending, task);
        const ended = await (all ? outcome.catch((error) => givenUp(invocation, task, error)) : outcome);
        resume.remove(id);
        return ended;
      },
    }));
    return await together(invocation, watch, items);
  } finally {
    watch.end();
  }
}

function givenIds({ args }: Invocation): string[] {
  const given = [...new Set((args.task_id as readonly string[] | undefined) ?? [])];
  if (given.length > 0) return given;
  throw usage('No tasks were named.', 'Name them, or use --all for every task that has not ended yet.');
}

/** Of every task that has not ended, oldest first: in the order they were started. */
async function everyId(invocation: Invocation): Promise<string[]> {
  if ((invocation.args.task_id?.length ?? 0) > 0) throw usage('<task_id> and --all exclude each other.');
  const open = [...invocation.ledger.entries()].filter(({ state, task_id }) => task_id && !endOf(state));
  const entries = await withinReach(invocation, open.reverse());
  return entries.flatMap(({ task_id }) => task_id ?? []);
}
