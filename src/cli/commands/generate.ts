import { printDryRun } from '../dry-run.js';
import { placeholderOf } from '../generation/from-task.js';
import { loadAll } from '../generation/images.js';
import { type Job, plan } from '../generation/plan.js';
import { runJobs } from '../generation/run.js';
import { readable } from '../generation/start.js';
import type { Invocation } from '../invocation.js';
import { operationNamed } from './operation.js';

/** Starts a task for each image, waits, and brings home what they made. */
export async function run(invocation: Invocation): Promise<number | undefined> {
  const jobs = await plan(invocation);
  if (!invocation.flags['dry-run']) return runJobs(invocation, jobs);
  for (const job of jobs) await printJob(invocation, job);
  return undefined;
}

/** Prints the request that a job would send. */
export async function printJob(invocation: Invocation, job: Job): Promise<void> {
  const { operation, body, images, fromTask } = job;
  const { kept } = await loadAll(images, operation, invocation.system);
  const made = fromTask === undefined ? {} : placeholderOf(fromTask);
  const request = { params: {}, query: {}, body: readable({ ...kept, ...body, ...made }) };
  await printDryRun(invocation, operationNamed(operation), request);
}
