import { getOperation, getTaskFacts } from '../../contract/index.js';
import { type PrintedRequest, printRequest, printRequests, requestOf } from '../command/dry-run.js';
import type { Invocation } from '../command/invocation.js';
import { placeholderOf } from '../generation/from-task.js';
import { loadAll } from '../generation/images.js';
import { type Job, plan } from '../generation/plan.js';
import { runJobs } from '../generation/run.js';
import { readable } from '../generation/start.js';

/** Starts a task for each image, waits, and brings home what they made. */
export async function run(invocation: Invocation): Promise<number | undefined> {
  const jobs = await plan(invocation);
  if (!invocation.flags['dry-run']) return runJobs(invocation, jobs);
  const [job] = jobs;
  if (job && jobs.length === 1) await printRequest(invocation, await requestOfJob(invocation, job));
  else await printRequests(invocation, requestsOf(invocation, jobs));
  return undefined;
}

async function* requestsOf(invocation: Invocation, jobs: readonly Job[]): AsyncGenerator<PrintedRequest> {
  for (const job of jobs) yield await requestOfJob(invocation, job);
}

/** The request that a job would send, images named in place of their data. */
export async function requestOfJob({ system }: Invocation, job: Job): Promise<PrintedRequest> {
  const { operation, body, images, fromTask } = job;
  const { kept } = await loadAll(images, getTaskFacts(operation).kind, system);
  const made = fromTask === undefined ? {} : placeholderOf(fromTask);
  const request = { params: {}, query: {}, body: readable({ ...kept, ...body, ...made }) };
  return requestOf(getOperation(operation), request);
}
