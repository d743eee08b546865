import { ServiceError } from '../../client/errors.js';
import { failureOf } from '../command/failure-of.js';
import type { Invocation } from '../command/invocation.js';
import type { Entry } from '../connect/ledger.js';
import { exitCodes, type Failure } from '../terminal/failure.js';
import type { Outcome } from './await-task.js';
import { readTask, type Task, taskOf } from './task.js';

/**
 * The entries whose services can be reached; it says which cannot. The others stay in the ledger.
 * @throws Failure where no service can be reached
 */
export async function withinReach(invocation: Invocation, entries: readonly Entry[]): Promise<Entry[]> {
  const firsts = new Map([...entries].reverse().map((entry) => [entry.service, entry]));
  const lost = new Map<string, Failure>();
  const look = async (entry: Entry) => {
    try {
      await readTask(invocation, taskOf(invocation, entry));
    } catch (error) {
      invocation.signal.throwIfAborted();
      const failure = failureOf(error);
      if (failure.facts.exit === exitCodes.unreachable) lost.set(entry.service, failure);
    }
  };
  await Promise.all([...firsts.values()].map(look));
  const reached = entries.filter(({ service }) => !lost.has(service));
  const [failure] = lost.values();
  if (failure && reached.length === 0) throw failure;
  for (const service of lost.keys()) {
    const count = entries.filter((entry) => entry.service === service).length;
    await invocation.output.warn(`${service} cannot be reached; ${tasks(count)} left out.`);
  }
  return reached;
}

/**
 * Takes a task that its service knows nothing of any more for ended, so that it is not asked for again.
 * @throws the error where it says anything else
 */
export async function givenUp(invocation: Invocation, { id, entry, target }: Task, error: unknown) {
  if (!entry || !(error instanceof ServiceError) || error.status !== 404) throw error;
  invocation.ledger.change(entry.id, { state: 'GONE' });
  await invocation.output.warn(`${target.name} knows no task ${id} any more; it is left out.`);
  return { lines: [], answer: {} } satisfies Outcome;
}

function tasks(count: number): string {
  return count === 1 ? '1 task is' : `${count} tasks are`;
}
