import { sql } from 'kysely';
import { listTaskOperations } from '../../contract/index.js';
import type { JobKindName } from '../configuration/job-kinds.js';
import { findRow } from '../database/database.js';
import type { Context } from '../operation/context.js';
import { type Engine, getJobKinds, nameJobKinds } from '../operation/engine.js';
import type { JobKind } from '../queue/queue.js';
import { checkArchive, checkSlowArchive } from './check-archive.js';
import { abandonVersion, expireTask, forgetInputs } from './cleanup.js';
import { deliverWebhook } from './deliver-webhook.js';
import { pruneDaily } from './prune.js';
import { failDelivery, failQuarantinedTask, flagVersion } from './quarantine.js';
import { runTask } from './run-task.js';

/** A look takes one request, and the last one the download of the files. */
const LOOKS_AT_ONCE = 50;

/** The kinds of jobs that this service runs, with their handlers and how many run in parallel. */
export function createJobKinds(context: Context): Readonly<Record<string, JobKind>> {
  const kinds = Object.entries(createAllKinds(context));
  const { work } = context.configuration;
  return Object.fromEntries(kinds.filter(([kind]) => work?.includes(toSetting(kind)) ?? true));
}

/** A service that checks archives also checks the slow ones, and one that makes images those of any engine. */
function toSetting(kind: string): JobKindName {
  return (kind === 'check-slow-archive' ? 'check-archive' : kind.replace(/\.\w+/, '')) as JobKindName;
}

type AllKinds = Readonly<Record<JobKindName | 'check-slow-archive', JobKind>>;

function createAllKinds(context: Context): AllKinds {
  const { image, video, operations = {} } = context.engines;
  const task = { run: runTask(context), quarantine: failQuarantinedTask(context) };
  const watching = { ...task, atOnce: LOOKS_AT_ONCE, resumes: true };
  return {
    'abandon-version': { run: abandonVersion(context), atOnce: 1 },
    // One of each at a time, because the memory that hostile archives use would add up.
    'check-archive': { run: checkArchive(context), atOnce: 1, quarantine: flagVersion(context) },
    'check-slow-archive': { run: checkSlowArchive(context), atOnce: 1, quarantine: flagVersion(context) },
    'deliver-webhook': { run: deliverWebhook(context), atOnce: 20, quarantine: failDelivery(context) },
    'expire-task': { run: expireTask(context), atOnce: 1 },
    'forget-inputs': { run: forgetInputs(context), atOnce: 1 },
    prune: { run: pruneDaily(context), atOnce: 1, resumes: true },
    'run-image-task': { ...task, ...limitStarts(image, 'watch-image-task') },
    'run-video-task': { ...task, ...limitStarts(video, 'watch-video-task') },
    'watch-image-task': watching,
    'watch-video-task': watching,
    // None waits for the tasks of another engine.
    ...Object.fromEntries(
      Object.entries(operations).flatMap(([name, engine]) => {
        const { run, watch } = nameJobKinds(name);
        return [
          [run, { ...task, ...limitStarts(engine, watch) }],
          [watch, watching],
        ];
      }),
    ),
  };
}

/** Moves the tasks of operations that have no engine of their own any more to that of their kind, which starts them again. */
export async function moveTasks({ database, configuration }: Context): Promise<void> {
  for (const operation of listTaskOperations()) {
    const { run } = getJobKinds(configuration, operation);
    const before = nameJobKinds(operation);
    if (run === before.run) continue;
    for (const kind of Object.values(before)) {
      if (!(await findRow(database, 'jobs', { kind }))) continue;
      const move = sql`update jobs set kind = ${run}, turn = null where kind = ${kind}`;
      await database.transaction().execute((tx) => move.execute(tx));
    }
  }
}

function limitStarts({ atOnce, resumes, isRemote }: Engine, watchKind: string): Omit<JobKind, 'run'> {
  return { atOnce, resumes, sharesWith: isRemote ? watchKind : undefined };
}
