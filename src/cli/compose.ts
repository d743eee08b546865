import { Ledger } from '../flows/tasks/ledger.js';
import { type ParsedCommand, readText } from './command/command.js';
import type { CommandContext } from './commands/context.js';
import { Clients } from './connect/clients.js';
import { findFolders } from './connect/folders.js';
import type { Project } from './connect/project.js';
import { ServiceConnector } from './connect/services.js';
import { Settings } from './connect/settings.js';
import { createSignInCredential } from './sign-in/sign-in-credential.js';
import { durationMs } from './terminal/duration.js';
import { usage } from './terminal/failure.js';
import type { System } from './terminal/system.js';

/** Builds the context of one command. Nothing is opened until it is needed. */
export function composeContext(
  parsed: ParsedCommand,
  {
    system,
    output,
    interruption,
    project,
  }: Pick<CommandContext, 'system' | 'output' | 'interruption'> & { readonly project: Project | undefined },
): { readonly context: CommandContext; close(): Promise<void> } {
  const { command, args, flags } = parsed;
  const { signal } = interruption;
  const folders = findFolders(system);
  const settings = new Settings(system, (sentence) => void output.warn(sentence), project);
  const timeoutMs = readRequestTimeout(system.env, flags);
  const clients = new Clients({ system, output, settings, timeoutMs, isVerbose: flags.verbose === true });
  const { connect } = clients;
  const renewals = new Set<Promise<unknown>>();
  const services = new ServiceConnector({
    ...{ system, output, folders, settings, flags, connect, signal },
    findNaming: (service) => clients.findNaming(service),
    isChanging: command.changes === true,
    toCredential: (signIn, source, store) =>
      createSignInCredential(signIn, source, {
        store,
        now: system.now,
        refresh: async (spent) => {
          const { refreshSignIn } = await import('./sign-in/tokens.js');
          return refreshSignIn({ connect, now: system.now }, spent);
        },
        onRenewal: (renewal) => void renewals.add(renewal),
      }),
  });
  const context = {
    ...{ command, args, flags, system, output, interruption, signal, folders, settings, connect, services },
    ledger: new Ledger(folders.state, system.now, system.identity, system.cwd),
    mayAsk: mayAsk(system, flags),
  };
  const close = async () => {
    // An interrupted renewal loses the sign-in, because its old refresh token is already used.
    await Promise.allSettled(renewals);
    await clients.close();
  };
  return { context, close };
}

function mayAsk({ stdin, stderr, env }: System, flags: ParsedCommand['flags']): boolean {
  return Boolean(stdin.isTTY && stderr.isTTY && !env.CI && flags.input !== false);
}

function readRequestTimeout(env: System['env'], flags: ParsedCommand['flags']): number | undefined {
  const flag = readText(flags, 'request-timeout');
  const given = flag ?? (env.REGEN_TIMEOUT || undefined);
  if (given === undefined) return undefined;
  const name = flag === undefined ? 'REGEN_TIMEOUT' : '--request-timeout';
  const ms = durationMs(given, name);
  if (ms > 0) return ms;
  throw usage(`${name} must be greater than 0.`);
}
