import { usage } from '../failure.js';
import { endingOf, finish } from '../generation/finish.js';
import { Resume } from '../generation/run.js';
import { endOf } from '../generation/seen.js';
import { entryOf, findTask } from '../generation/task.js';
import { together } from '../generation/together.js';
import { Watch } from '../generation/watch.js';
import type { Invocation } from '../invocation.js';

/** Waits for tasks and brings home what they made. */
export async function run(invocation: Invocation): Promise<number> {
  const ids = idsOf(invocation);
  const watch = new Watch(invocation);
  const ending = endingOf(invocation, watch);
  ending.destination?.check(ids.map((id) => entryOf(invocation, id)?.name ?? 'image'));
  const resume = new Resume(invocation);
  for (const id of ids) resume.add(id);
  try {
    await watch.stage(ids.length === 1 ? `Waiting for ${ids[0]}` : `Waiting for ${ids.length} tasks`);
    const items = ids.map((id) => ({
      label: id,
      run: async () => {
        const outcome = await finish(ending, await findTask(invocation, id));
        resume.remove(id);
        return outcome;
      },
    }));
    return await together(invocation, watch, items);
  } finally {
    watch.end();
  }
}

function idsOf(invocation: Invocation): string[] {
  const given = [...new Set((invocation.args.task_id as readonly string[] | undefined) ?? [])];
  if (!invocation.flags.all) {
    if (given.length > 0) return given;
    throw usage('No tasks were named.', 'Name them, or use --all for every task that has not ended yet.');
  }
  if (given.length > 0) throw usage('<task_id> and --all exclude each other.');
  const open = [...invocation.ledger.entries()].filter(({ state }) => !endOf(state));
  // Oldest first: in the order they were started.
  return open.flatMap(({ task_id }) => task_id ?? []).reverse();
}
