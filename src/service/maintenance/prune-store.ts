import { randomUUID } from 'node:crypto';
import { type ConfigurationInput, parseConfiguration } from '../configuration/configuration.js';
import type { Environment } from '../configuration/secret-source.js';
import { abandonVersion, forgetInputs } from '../jobs/cleanup.js';
import { type PrunedKind, prune } from '../jobs/prune.js';
import { LeasedTable } from '../queue/leased-table.js';
import type { NewJob, RunningJob } from '../queue/queue.js';
import { openStore } from './store.js';

export interface PruneStoreOptions {
  readonly env: Environment;
  /** Only counts. */
  readonly dryRun: boolean;
  readonly now: () => number;
}

/**
 * Removes what a configuration no longer keeps from its store, whether or not services use it.
 * @param data the data folder
 * @throws DataUnusable, InvalidConfiguration
 */
export async function pruneStore(
  data: string,
  input: ConfigurationInput,
  { env, dryRun, now: givenNow }: PruneStoreOptions,
): Promise<PrunedKind[]> {
  const configuration = await parseConfiguration(input, env);
  await using store = await openStore({ data, configuration: input, env }, givenNow);
  const { database, objects: storage, now } = store;
  const queue = new LeasedTable({ database, now, log: () => {}, instance: randomUUID(), alone: false });
  const jobs: NewJob[] = [];
  const options = { dryRun, onFiles: (job: NewJob) => void jobs.push(job) };
  const pruned = await prune({ configuration, database, queue, now }, options);
  if (dryRun) return pruned;
  // Services that run do the same; without one, the files would stay until the next start.
  const handlers = {
    'forget-inputs': forgetInputs({ database, storage }),
    'abandon-version': abandonVersion({ storage, now, queue }),
  };
  const { signal } = new AbortController();
  const commit: RunningJob['commit'] = (write) => database.transaction().execute(write);
  for (const job of jobs)
    await handlers[job.kind as keyof typeof handlers]({ ...job, attempts: 0, commit }, signal);
  return pruned;
}
