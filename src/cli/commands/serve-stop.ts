import type { Invocation } from '../command/invocation.js';
import { drain } from '../connect/local.js';
import { find, folderOf } from './serve-status.js';

/** Lets the service that works on a folder finish, and ends it. */
export async function run(invocation: Invocation): Promise<void> {
  const folder = folderOf(invocation);
  const service = await find(invocation, folder);
  if (!service) return invocation.output.note(`No service runs on ${folder}.`);
  await drain(folder, service, (url, token) => invocation.connect(url, token));
  await invocation.output.note(`Stopped the service at ${service.url}.`);
}
