import { drainLocal } from '../connect/local.js';
import type { CommandContext } from './context.js';
import { findService, readDataFolder } from './serve-status.js';

/** Lets the service of a data folder finish its work, and stops it. */
export async function run(context: CommandContext): Promise<void> {
  const folder = readDataFolder(context);
  const service = await findService(context, folder);
  if (!service) return context.output.note(`No service runs on ${folder}.`);
  await drainLocal(folder, service);
  await context.output.note(`Stopped the service at ${service.url}.`);
}
