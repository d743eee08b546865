import type { CommandContext } from '../connect/context.js';
import { Failure, SIGN_IN_HINT, usage } from '../terminal/failure.js';

/** Prints the token in use for other programs; on a terminal only with `--show`. */
export async function run(context: CommandContext): Promise<void> {
  const { system, flags, output } = context;
  if (system.stdout.isTTY && !flags.show) {
    throw usage('The token would be visible on this terminal.', 'Pipe it, or pass --show.');
  }
  const { credential, name } = await context.services.reach();
  if (!credential) {
    throw new Failure(`There is no token for ${name}.`, {
      code: 'unauthenticated',
      hint: SIGN_IN_HINT,
    });
  }
  await output.answer({ token: await credential.token() }, { only: 'token' });
}
