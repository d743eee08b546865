import { rotateSecret } from '../connect/local.js';
import type { CommandContext } from './context.js';
import { rotateStopped } from './serve-rotate-key.js';
import { findService, readDataFolder } from './serve-status.js';

/** Replaces the token of the embedded owner, whether the service runs or not. */
export async function run(context: CommandContext): Promise<void> {
  const folder = readDataFolder(context);
  const service = await findService(context, folder);
  if (service) await rotateSecret(service, 'token');
  else await rotateStopped(folder, ({ rotateOwnerTokenIn }) => rotateOwnerTokenIn(folder));
  await context.output.note(`Replaced ${folder}/owner.token. The old token is no longer accepted.`);
}
