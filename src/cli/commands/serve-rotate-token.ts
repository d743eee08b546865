import { rotate } from '../connect/local.js';
import type { CommandContext } from './context.js';
import { rotateStopped } from './serve-rotate-key.js';
import { find, folderOf } from './serve-status.js';

/** Replaces the token of the embedded owner, whether the service runs or not. */
export async function run(context: CommandContext): Promise<void> {
  const folder = folderOf(context);
  const service = await find(context, folder);
  if (service) await rotate(service, 'token', context.connect);
  else await rotateStopped(folder, ({ rotateOwnerTokenIn }) => rotateOwnerTokenIn(folder));
  await context.output.note(`Replaced ${folder}/owner.token. The old token is no longer accepted.`);
}
