import { getOperation, getTaskFacts } from '../../contract/index.js';
import { type PrintedRequest, printRequest, printRequests, toPrintedRequest } from '../command/dry-run.js';
import { loadImages } from '../generation/images.js';
import { type Job, planJobs } from '../generation/plan.js';
import { runJobs } from '../generation/run-jobs.js';
import { formatCreation, toReadable } from '../generation/start.js';
import type { CommandContext } from './context.js';

/** Starts a task for each image, waits for it, and saves its results. */
export async function run(context: CommandContext): Promise<number | undefined> {
  const jobs = await planJobs(context, context);
  if (!context.flags['dry-run']) return runJobs(context, jobs);
  const [job] = jobs;
  if (job && jobs.length === 1) await printRequest(context, await previewJob(context.system, job));
  else await printRequests(context, previewJobs(context.system, jobs));
  return undefined;
}

type StandardInput = Pick<CommandContext['system'], 'stdin'>;

async function* previewJobs(system: StandardInput, jobs: readonly Job[]): AsyncGenerator<PrintedRequest> {
  for (const job of jobs) yield await previewJob(system, job);
}

/** The request that a job would send, with descriptions in place of images. */
export async function previewJob(system: StandardInput, job: Job): Promise<PrintedRequest> {
  const { operation, body, images, fromTask } = job;
  const { kept } = await loadImages(images, getTaskFacts(operation).kind, system);
  const made = fromTask === undefined ? {} : formatCreation(fromTask);
  const request = { params: {}, query: {}, body: toReadable({ ...kept, ...body, ...made }) };
  return toPrintedRequest(getOperation(operation), request);
}
