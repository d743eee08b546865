import { getOperation, getTaskFacts } from '../../contract/index.js';
import { type PrintedRequest, printRequest, printRequests, requestOf } from '../command/dry-run.js';
import { loadAll } from '../generation/images.js';
import { type Job, plan } from '../generation/plan.js';
import { runJobs } from '../generation/run-jobs.js';
import { formatCreation, readable } from '../generation/start.js';
import type { CommandContext } from './context.js';

/** Starts a task for each image, waits, and brings home what they made. */
export async function run(context: CommandContext): Promise<number | undefined> {
  const jobs = await plan(context, context);
  if (!context.flags['dry-run']) return runJobs(context, jobs);
  const [job] = jobs;
  if (job && jobs.length === 1) await printRequest(context, await requestOfJob(context.system, job));
  else await printRequests(context, requestsOf(context.system, jobs));
  return undefined;
}

type StandardInput = Pick<CommandContext['system'], 'stdin'>;

async function* requestsOf(system: StandardInput, jobs: readonly Job[]): AsyncGenerator<PrintedRequest> {
  for (const job of jobs) yield await requestOfJob(system, job);
}

/** The request that a job would send, images named in place of their data. */
export async function requestOfJob(system: StandardInput, job: Job): Promise<PrintedRequest> {
  const { operation, body, images, fromTask } = job;
  const { kept } = await loadAll(images, getTaskFacts(operation).kind, system);
  const made = fromTask === undefined ? {} : formatCreation(fromTask);
  const request = { params: {}, query: {}, body: readable({ ...kept, ...body, ...made }) };
  return requestOf(getOperation(operation), request);
}
