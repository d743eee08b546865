import type { Job } from '../../flows/tasks/start-task.js';
import { type PrintedRequest, printRequest, printRequests } from '../command/dry-run.js';
import { planJobs } from '../generation/plan.js';
import { previewJob } from '../generation/preview.js';
import { runJobs } from '../generation/run-jobs.js';
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
