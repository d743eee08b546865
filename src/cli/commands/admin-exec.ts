import type { Client } from '../../client/client.js';
import { getOperation } from '../../contract/index.js';
import { runChild } from '../admin/child.js';
import { keepFresh } from '../admin/token-file.js';
import { printDryRun } from '../command/dry-run.js';
import { toFailure } from '../command/to-failure.js';

import { usage } from '../terminal/failure.js';
import { withScratch } from '../terminal/scratch.js';
import type { CommandContext } from './context.js';

/** Runs a command that has an admin token for as long as it runs; its exit code is this command's. */
export async function run(context: CommandContext): Promise<number | undefined> {
  const { args, command, flags, output, system } = context;
  const [program, ...words] = (args.command as readonly string[] | undefined) ?? [];
  if (program === undefined) {
    throw usage('There is no command to run.', 'Write it behind --: regen admin exec -- ./moderate.sh');
  }
  if (flags['dry-run']) {
    const operation = getOperation(command.operation as string);
    await printDryRun(context, operation, { params: {}, query: {}, body: undefined });
    return undefined;
  }
  const { name, url, client } = await context.services.reach();
  const make = (signal: AbortSignal) => client.admin.generateToken({}, { signal });
  return withScratch(system.now(), async (folder) => {
    const first = await make(context.signal);
    await output.note(`An admin token of ${name} is in REGEN_ADMIN_TOKEN, and in REGEN_ADMIN_TOKEN_FILE.`);
    const fresh = keepFresh({ folder, first, make, system, failed: (message) => output.warn(message) });
    const env = {
      ...withoutSecrets(system.env),
      // Where the token is good, and nowhere else.
      REGEN_BASE_URL: url,
      REGEN_ADMIN_TOKEN: first.token,
      REGEN_ADMIN_TOKEN_FILE: fresh.path,
    };
    try {
      return await runChild(context, program, words, env);
    } finally {
      await revoke(context, client, await fresh.end());
    }
  });
}

/** The child has ended; nobody needs its tokens any more. */
async function revoke(
  { output }: CommandContext,
  client: Client,
  tokens: readonly { readonly token: string; readonly expires_at: string }[],
): Promise<void> {
  for (const { token, expires_at } of tokens) {
    const [, payload = ''] = token.split('.');
    try {
      const { jti } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { jti: string };
      // The command was interrupted, perhaps: its signal would end this, too.
      await client.admin.token.revoke({ jti });
    } catch (error) {
      await output.warn(
        `The admin token could not be revoked; it is valid until ${expires_at}: ${toFailure(error).message}`,
      );
    }
  }
}

// Decided: a child is given the admin token instead of what made it, which could make others.
function withoutSecrets(env: CommandContext['system']['env']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^REGEN_\w*(TOKEN|SECRET)(_FILE)?$/.test(name)),
  );
}
