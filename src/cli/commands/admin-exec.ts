import type { Client } from '../../client/client.js';
import { getOperation } from '../../contract/index.js';
import { runChild } from '../admin/child.js';
import { type AdminToken, keepTokenFile } from '../admin/token-file.js';
import { printDryRun } from '../command/dry-run.js';
import { toFailure } from '../command/to-failure.js';
import { usage } from '../terminal/failure.js';
import { withScratch } from '../terminal/scratch.js';
import type { CommandContext } from './context.js';

/** Runs a command with a temporary admin token, and exits with its exit code. */
export async function run(context: CommandContext): Promise<number | undefined> {
  const { args, command, flags, output, system } = context;
  const [program, ...words] = (args.command as readonly string[] | undefined) ?? [];
  if (program === undefined) {
    throw usage('No command given.', 'Write it after --, such as: regen admin exec -- ./moderate.sh');
  }
  if (flags['dry-run']) {
    const operation = getOperation(command.operation as string);
    await printDryRun(context, operation, { params: {}, query: {}, body: undefined });
    return undefined;
  }
  const { name, url, client } = await context.services.reach();
  const create = (signal: AbortSignal) => client.admin.generateToken({}, { signal });
  return withScratch(system.now(), async (folder) => {
    const first = await create(context.signal);
    await output.note(
      `The command gets an admin token of ${name} in REGEN_ADMIN_TOKEN and REGEN_ADMIN_TOKEN_FILE.`,
    );
    const tokenFile = keepTokenFile({ folder, first, create, system, warn: (text) => output.warn(text) });
    const env = {
      ...withoutSecrets(system.env),
      // The service that accepts the token.
      REGEN_BASE_URL: url,
      REGEN_ADMIN_TOKEN: first.token,
      REGEN_ADMIN_TOKEN_FILE: tokenFile.path,
    };
    try {
      return await runChild(context, program, words, env);
    } finally {
      await revokeTokens(context, client, await tokenFile.end());
    }
  });
}

/** Revokes the tokens after the child has ended. */
async function revokeTokens(
  { output }: CommandContext,
  client: Client,
  tokens: readonly AdminToken[],
): Promise<void> {
  for (const { token, expires_at } of tokens) {
    const [, payload = ''] = token.split('.');
    try {
      const { jti } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { jti: string };
      // Without the signal of the command, which may have been interrupted.
      await client.admin.token.revoke({ jti });
    } catch (error) {
      await output.warn(
        `Could not revoke the admin token, which is valid until ${expires_at}: ${toFailure(error).message}`,
      );
    }
  }
}

// Decided: the child gets the admin token, but not the credential that created it, which could create more.
function withoutSecrets(env: CommandContext['system']['env']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^REGEN_\w*(TOKEN|SECRET)(_FILE)?$/.test(name)),
  );
}
