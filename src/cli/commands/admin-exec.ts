import { join } from 'node:path';
import type { Client } from '../../client/client.js';
import { getOutline } from '../../client/outlines.js';
import { regen, say } from '../../contract/schema/message.js';
import { writePrivateFile } from '../../disk/private-file.js';
import { keepRenewed } from '../../flows/keys/keep-renewed.js';
import { printDryRun } from '../command/dry-run.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import { runChildProgram } from '../terminal/child-program.js';
import { usage } from '../terminal/failure.js';
import { withScratch } from '../terminal/scratch.js';
import type { View } from '../views/view.js';

type Context = Needs<
  'command' | 'args' | 'flags' | 'system' | 'output' | 'interruption' | 'signal' | 'services'
>;

export const view = (): View => ({
  usage: 'admin exec [command...]',
  operation: 'admin.generateToken',
  summary: 'Run a command with a temporary admin token',
  explain: {
    command:
      'The command to run and its arguments, after --. REGEN_ADMIN_TOKEN has the initial token; the file REGEN_ADMIN_TOKEN_FILE always has a valid one',
  },
  examples: ['regen admin exec -- ./moderate.sh', 'regen admin exec -- regen admin audit --kind node'],
});

export async function run(context: Context): Promise<number | undefined> {
  const { args, flags, output, system, interruption } = context;
  const command = (args.command as readonly string[] | undefined) ?? [];
  if (command.length === 0) {
    throw usage(
      'No command given.',
      say`Write it after --, such as: ${regen('admin exec', '-- ./moderate.sh')}`,
    );
  }
  if (flags['dry-run']) {
    await printDryRun(context, getOutline(context.command.operation as string));
    return undefined;
  }
  const { name, url, client } = await context.services.reach();
  const create = (signal: AbortSignal) => client.admin.generateToken({}, { signal });
  return withScratch(system.now(), async (folder) => {
    const first = await create(context.signal);
    await output.note(
      `The command gets an admin token of ${name} in REGEN_ADMIN_TOKEN and REGEN_ADMIN_TOKEN_FILE.`,
    );
    const path = join(folder, 'admin-token');
    const renewal = keepTokenFile(context, { path, first, create });
    const prepare = () => ({
      // The service that accepts the token.
      REGEN_BASE_URL: url,
      REGEN_ADMIN_TOKEN: first.token,
      REGEN_ADMIN_TOKEN_FILE: path,
    });
    return runChildProgram({ system, interruption, command, prepare }, async () =>
      revokeTokens(context, client, await renewal.end()),
    );
  });
}

async function revokeTokens(
  { output }: Needs<'output'>,
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

interface AdminToken {
  readonly token: string;
  /** ISO 8601. */
  readonly expires_at: string;
}

interface TokenFileOptions {
  readonly path: string;
  readonly first: AdminToken;
  readonly create: (signal: AbortSignal) => Promise<AdminToken>;
}

/** A token is renewed this long before it expires. */
const RENEWAL_MARGIN_MS = 5 * 60_000;

/** Keeps a valid admin token, and nothing else, in a file until `end` is called, which returns all that were created. */
function keepTokenFile(
  { system, output }: Needs<'system' | 'output'>,
  { path, first, create }: TokenFileOptions,
): { end(): Promise<readonly AdminToken[]> } {
  const tokens = [first];
  let { expires_at } = first;
  const findDue = () => Date.parse(expires_at) - RENEWAL_MARGIN_MS;
  writePrivateFile(path, first.token);
  const renewal = keepRenewed({
    firstAt: findDue(),
    renew: async (signal) => {
      const next = await create(signal);
      tokens.push(next);
      writePrivateFile(path, next.token);
      ({ expires_at } = next);
      return findDue();
    },
    onFailure: (error) =>
      output.warn(
        `Could not renew the admin token, which expires at ${expires_at}: ${toFailure(error).message}`,
      ),
    ...{ now: system.now, sleep: system.sleep },
  });
  return {
    async end() {
      await renewal.end();
      return tokens;
    },
  };
}
