import { toFailure } from '../command/to-failure.js';
import type { CommandContext } from '../connect/context.js';
import type { SignIn } from '../connect/credentials.js';
import { revokeSignIn } from '../sign-in/tokens.js';

/** Removes all tokens of the service, and revokes the sign-in if its issuer can. */
export async function run(context: CommandContext): Promise<void> {
  const { output, services } = context;
  const { target } = services;
  const store = context.services.openCredentialStore();
  const { token, sign_in, publish_tokens, kept_in } = await store.read();
  const count = (token || sign_in ? 1 : 0) + Object.keys(publish_tokens ?? {}).length;
  if (count === 0 && !kept_in) return output.note(`There was no stored token for ${target.name}.`);
  if (sign_in) await endAtIssuer(context, sign_in);
  await store.forget();
  await output.note(`Removed ${count > 1 ? `${count} tokens` : 'the token'} of ${target.name}.`);
}

/** A failure is only a warning, because logging out must work without the network. */
async function endAtIssuer(context: CommandContext, signIn: SignIn): Promise<void> {
  const { output, signal } = context;
  const { issuer } = signIn;
  try {
    if (await revokeSignIn(context.connect, signIn)) return await output.note(`Signed out at ${issuer}.`);
    await output.note(
      `${issuer} cannot revoke tokens; the last one expires ${signIn.expires_at ? `at ${signIn.expires_at}` : 'later'}.`,
    );
  } catch (error) {
    if (signal.aborted) throw error;
    await output.warn(`Could not sign out at ${issuer}: ${toFailure(error).message}`);
  }
}
