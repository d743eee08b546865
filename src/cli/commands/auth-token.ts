import { formatSignInHint } from '../sign-in/hint.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import type { CommandContext } from './context.js';

/** Prints the token in use, for other programs; to a terminal only when asked to show it. */
export async function run(context: CommandContext): Promise<void> {
  const { system, flags, output } = context;
  if (system.stdout.isTTY && !flags.show) {
    throw usage('A token would be readable on this screen.', 'Pipe it, or add --show.');
  }
  const { credential, name } = await context.services.reach();
  if (!credential) {
    throw new Failure(`There is no token for ${name}.`, {
      code: 'unauthenticated',
      exit: exitCodes.notAllowed,
      hint: formatSignInHint(context.flags),
    });
  }
  await output.answer({ token: await credential.token() }, { only: 'token' });
}
