import type { Invocation } from '../command/invocation.js';
import { signInHint } from '../sign-in/hint.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';

/** Prints the token in use, for other programs; to a terminal only when asked to show it. */
export async function run(invocation: Invocation): Promise<void> {
  const { system, flags, output } = invocation;
  if (system.stdout.isTTY && !flags.show) {
    throw usage('A token would be readable on this screen.', 'Pipe it, or add --show.');
  }
  const { credential, name } = await invocation.service();
  if (!credential) {
    throw new Failure(`There is no token for ${name}.`, {
      code: 'unauthenticated',
      exit: exitCodes.notAllowed,
      hint: signInHint(invocation),
    });
  }
  await output.answer({ token: await credential.token() }, { only: 'token' });
}
