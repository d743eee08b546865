import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../client/client.js';
import { getOutline } from '../../client/outlines.js';
import { writePrivateFile } from '../../disk/private-file.js';
import { printDryRun } from '../command/dry-run.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import { Failure, usage } from '../terminal/failure.js';
import { findProgram } from '../terminal/programs.js';
import { withScratch } from '../terminal/scratch.js';
import type { System } from '../terminal/system.js';
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
  const { args, command, flags, output, system } = context;
  const [program, ...words] = (args.command as readonly string[] | undefined) ?? [];
  if (program === undefined) {
    throw usage('No command given.', 'Write it after --, such as: regen admin exec -- ./moderate.sh');
  }
  if (flags['dry-run']) {
    await printDryRun(context, getOutline(command.operation as string));
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

// Decided: the child gets the admin token, but not the credential that created it, which could create more.
function withoutSecrets(env: System['env']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^REGEN_\w*(TOKEN|SECRET)(_FILE)?$/.test(name)),
  );
}

// The exit codes of a shell for a program that it cannot find, and for one that it cannot run.
const EXIT_NOT_FOUND = 127;
const EXIT_NOT_RUNNABLE = 126;
const FORWARDED_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/**
 * Runs a program in this terminal, as a shell would.
 * @returns its exit code; after a signal, 128 plus the number of the signal
 * @throws Failure if it does not start
 */
async function runChild(
  { system, interruption }: Needs<'system' | 'interruption'>,
  program: string,
  words: readonly string[],
  env: Record<string, string | undefined>,
): Promise<number> {
  interruption.signal.throwIfAborted();
  let child: ChildProcess | undefined;
  // Listens first: without a listener, a signal that comes as the child starts would end this process alone.
  const stop = system.onSignal((signal) => forwardSignal(system, child, signal), FORWARDED_SIGNALS);
  interruption.ignore();
  try {
    // Windows would look in the current folder first, as no other system does.
    const isName = system.platform === 'win32' && !/[/\\]/.test(program);
    const file = isName ? findProgram(program, system) : program;
    if (file === undefined) throw toNotStartedFailure(program, { code: 'ENOENT' });
    const started = spawn(file, words, { cwd: system.cwd, env, stdio: 'inherit' });
    child = started;
    return await new Promise<number>((done, fail) => {
      started.once('error', (error) => fail(toNotStartedFailure(program, error)));
      started.once('exit', (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    });
  } finally {
    stop();
  }
}

/** Forwards a signal, unless it was typed on a terminal, which sends it to the child itself. */
function forwardSignal(
  { stdin, stderr }: System,
  child: ChildProcess | undefined,
  signal: NodeJS.Signals,
): void {
  const typed = signal === 'SIGINT' || signal === 'SIGQUIT';
  if (typed && (stdin.isTTY || stderr.isTTY)) return;
  child?.kill(signal);
}

function toNotStartedFailure(
  program: string,
  error: Pick<NodeJS.ErrnoException, 'code'> & { readonly message?: string },
): Failure {
  const isMissing = error.code === 'ENOENT';
  const why = isMissing ? 'command not found' : error.message;
  return new Failure(`Could not start '${program}': ${why}.`, {
    code: 'not_started',
    exit: isMissing ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE,
  });
}

export interface AdminToken {
  readonly token: string;
  /** ISO 8601. */
  readonly expires_at: string;
}

interface TokenFileOptions {
  readonly folder: string;
  readonly first: AdminToken;
  readonly create: (signal: AbortSignal) => Promise<AdminToken>;
  readonly system: Pick<System, 'now' | 'sleep'>;
  /** Called with a sentence when no new token can be created. */
  readonly warn: (message: string) => Promise<void>;
}

/** A token is renewed this long before it expires. */
const RENEWAL_MARGIN_MS = 5 * 60_000;
// Timers stand still while a machine sleeps, so the clock is checked often.
const CHECK_INTERVAL_MS = 30_000;

/** Keeps a valid admin token, and nothing else, in a file until `end` is called. */
function keepTokenFile({ folder, first, create, system, warn }: TokenFileOptions) {
  const path = join(folder, 'admin-token');
  const ending = new AbortController();
  const tokens = [first];
  let { expires_at } = first;
  let lastWarning = '';
  writePrivateFile(path, first.token);

  const renew = async () => {
    try {
      const next = await create(ending.signal);
      tokens.push(next);
      writePrivateFile(path, next.token);
      expires_at = next.expires_at;
    } catch (error) {
      if (ending.signal.aborted) return;
      // The service may come back before the old token expires; the child keeps running either way.
      const message = `Could not renew the admin token, which expires at ${expires_at}: ${toFailure(error).message}`;
      if (message !== lastWarning) await warn(message);
      lastWarning = message;
    }
  };
  const watching = (async () => {
    while (!ending.signal.aborted) {
      await system.sleep(CHECK_INTERVAL_MS, ending.signal);
      if (!ending.signal.aborted && system.now() >= Date.parse(expires_at) - RENEWAL_MARGIN_MS) await renew();
    }
  })();
  return {
    path,
    /** @returns all tokens that were created */
    async end(): Promise<readonly AdminToken[]> {
      ending.abort();
      await watching;
      return tokens;
    },
  };
}
