import { printDryRun } from '../dry-run.js';
import { load } from '../generation/images.js';
import { plan } from '../generation/plan.js';
import { runJobs } from '../generation/run.js';
import { readable } from '../generation/start.js';
import type { Invocation } from '../invocation.js';
import { operationNamed } from './operation.js';

/** Starts a task for each image, waits, and brings home what they made. */
export async function run(invocation: Invocation): Promise<number | undefined> {
  const jobs = await plan(invocation);
  if (!invocation.flags['dry-run']) return runJobs(invocation, jobs);
  for (const { operation, body, images } of jobs) {
    const kept: Record<string, unknown> = {};
    for (const [field, source] of Object.entries(images))
      kept[field] = (await load(source, invocation.system)).kept;
    const request = { params: {}, query: {}, body: readable({ ...kept, ...body }) };
    await printDryRun(invocation, operationNamed(operation), request);
  }
  return undefined;
}
