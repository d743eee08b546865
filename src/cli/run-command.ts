import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { joinTexts, regen, say } from '../contract/schema/message.js';
import type { Problem } from '../contract/schema/schema-types.js';
import { nameProgram, openLedger } from '../flows/keys/key-ledger.js';
import {
  type Argument,
  type ArgumentValues,
  type Command,
  isFolderCommand,
  isPath,
  LOCK_FILE_FLAG,
  type ParsedCommand,
  readText,
} from './command/command.js';
import { type ParsedCommandLine, parseCommandLine } from './command/program.js';
import { version } from './command/version.js';
import { Clients } from './connect/clients.js';
import type { CommandContext, Needs, RunCommand } from './connect/context.js';
import { findFolders } from './connect/folders.js';
import type { Project } from './connect/project.js';
import { ServiceConnector } from './connect/services.js';
import { Settings, TOKEN_VARIABLES } from './connect/settings.js';
import { createSignInCredential } from './sign-in/sign-in-credential.js';
import { durationMs } from './terminal/duration.js';
import { exitCodes, Failure, usage } from './terminal/failure.js';
import { CommandInterruption } from './terminal/interrupted.js';
import type { JsonFilter } from './terminal/json-filter.js';
import { Output } from './terminal/output.js';
import { PromptCancelled } from './terminal/prompts.js';
import { SecretMask } from './terminal/secret-mask.js';
import type { System } from './terminal/system.js';
import { BuiltTree } from './views/tree.js';
import type { CommandFile } from './views/view.js';

/** Runs one command line and returns its exit code. Only this function prints errors. */
export async function runCommand(argv: readonly string[], system: System): Promise<number> {
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const isGiven = (flag: string) => own.includes(flag);
  const secrets = new SecretMask(argv, system.env);
  const mode = { json: isGiven('--json'), ndjson: isGiven('--ndjson'), color: !isGiven('--no-color') };
  let output = new Output(system, mode, secrets);
  const interruption = new CommandInterruption(system);
  interruption.isIgnored = () => output.isPaging;
  let asked: ParsedCommand | undefined;
  let close = async () => {};
  let services: ServiceConnector | undefined;
  try {
    const parsed = parseArguments(argv, system.stderr.columns ?? 80);
    if (parsed.kind === 'text') {
      await output.write(parsed.text);
      return parsed.asked ? exitCodes.done : exitCodes.usage;
    }
    const project = await findProject(parsed, system);
    asked = addDefaults(parsed, project);
    const { command, args, flags } = asked;
    const { ndjson, quiet } = flags as Record<string, boolean>;
    const { json, filter, columns } = await readFormat(flags, interruption);
    output = new Output(
      system,
      {
        ...{ json, ndjson, quiet, filter, columns },
        ...{ color: flags.color !== false, pager: flags.pager !== false },
        findNames: async (dir) => {
          const { completeCommand } = await import('./complete-commands.js');
          // The command itself reports what is wrong with a profile.
          const format = await services?.findFormat().catch(() => undefined);
          const command = (words: string, rest: string, own?: string) =>
            completeCommand(words, rest, { ...flags, ...services?.lockFlags }, own ?? dir ?? args.dir);
          return { ...format?.names, command };
        },
      },
      secrets,
    );
    const composed = composeContext(asked, project, { system, output, interruption });
    close = composed.close;
    services = composed.context.services;
    requireArguments(command, args);
    const run = await loadRunner(command);
    interruption.listen();
    return (await run(composed.context)) ?? exitCodes.done;
  } catch (error) {
    if (interruption.signal.aborted || error instanceof PromptCancelled) {
      const { hint, exitCode: exit } = interruption;
      if (output.isForProgram)
        await output.failure(
          new Failure('Interrupted.', { code: 'interrupted', exit, ...(hint && { hint }) }),
        );
      else await output.tell(hint ? say`Interrupted. ${hint}` : 'Interrupted.');
      return exit;
    }
    const located = await locateError(error, asked, system);
    const failure = await describeFailure(located, asked, services, { system, interruption });
    await output.failure(failure);
    return failure.facts.exit;
  } finally {
    await close();
    interruption.ignore();
  }
}

/** Parses with the typed command alone, which is enough unless help or the nearest names are needed. */
function parseArguments(argv: readonly string[], columns: number): ParsedCommandLine {
  const tree = new BuiltTree();
  const typed = tree.readTyped(argv);
  try {
    const parsed = typed && parseCommandLine(typed, argv, { version, columns });
    if (parsed?.kind === 'run') return parsed;
  } catch {
    // Parsed again below.
  }
  return parseCommandLine(tree.readWhole(), argv, { version, columns });
}

/**
 * Finds the defaults of the project for a command that reads its folder: a folder may be another person's work, so it
 * decides nothing for other commands. What reads them is loaded only if there may be some.
 */
async function findProject(parsed: ParsedCommand, { cwd }: System): Promise<Project | undefined> {
  const paths = listProjectFolders(parsed).map((dir) => resolve(cwd, dir, 'pyproject.toml'));
  if (!paths.some((path) => existsSync(path))) return undefined;
  const { readProject } = await import('./connect/project.js');
  return readProject(paths, listFolderFlags);
}

/** The folders that a command reads: of packs, or the one with the lock file. */
function listProjectFolders({ command, args, flags }: ParsedCommand): readonly string[] {
  if (command.flags.some(({ name }) => name === LOCK_FILE_FLAG))
    return [dirname(readText(flags, LOCK_FILE_FLAG) ?? '.')];
  const isDiff = command.words.join(' ') === 'version diff';
  if (!isFolderCommand(command)) return isDiff && isPath(args.nodeId) ? [args.nodeId] : [];
  const dirs = [args.dir ?? []].flat();
  return dirs.length > 0 ? dirs : ['.'];
}

function listFolderFlags() {
  const commands = new BuiltTree().readCommands('version');
  return commands
    .filter(isFolderCommand)
    .flatMap(({ flags }) => flags.filter(({ name }) => name !== 'dry-run'));
}

function addDefaults(parsed: ParsedCommand, project: Project | undefined): ParsedCommand {
  const { command, flags } = parsed;
  if (!project || command.words[0] !== 'version' || !isFolderCommand(command)) return parsed;
  const isOwn = (key: string) => command.flags.some(({ name }) => name.replace(/^no-/, '') === key);
  const own = Object.entries(project.flags).filter(([key]) => isOwn(key));
  return { ...parsed, flags: { ...Object.fromEntries(own), ...flags } };
}

/** Requires the positionals that are not part of a request; the others are checked together with the request. */
function requireArguments(command: Command, args: ArgumentValues): void {
  // After an optional one, as in `api [method] <path>`, only the command knows which is which.
  const first = command.arguments.findIndex(({ required }) => !required);
  const certain = first < 0 ? command.arguments : command.arguments.slice(0, first);
  const read = ({ name }: Argument) => [args[name] ?? []].flat();
  const missing = certain.filter((one) => !one.target && read(one).length === 0);
  if (missing.length > 0) {
    const names = missing.map(({ name: argument }) => ({ argument }));
    throw usage(
      say`${joinTexts(names, ', ')} ${missing.length === 1 ? 'is' : 'are'} required.`,
      say`See: ${regen(command.words.join(' '), '--help')}`,
    );
  }
  // Usually an unset variable of a script. What is passed to a program may be empty.
  const isEmpty = (one: Argument) => (one.name === 'command' ? read(one)[0] === '' : read(one).includes(''));
  const empty = command.arguments.find((one) => !one.target && isEmpty(one));
  if (empty) throw usage(say`${{ argument: empty.name }} must not be empty.`);
}

/** Reads how the answer is printed. A wrong expression is reported before anything is sent. */
async function readFormat(flags: ParsedCommand['flags'], interruption: CommandInterruption) {
  const { json, ndjson, jq } = flags;
  const columns = readText(flags, 'columns')
    ?.split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (columns && (json || ndjson || jq !== undefined))
    throw usage('--columns is for tables; JSON has every field.', 'Select fields of JSON with --jq.');
  if (typeof jq !== 'string') return { json: json === true, filter: undefined, columns };
  const { openJsonFilter } = await import('./terminal/json-filter.js');
  const apply = await openJsonFilter(jq);
  const filter: JsonFilter = (...given) => interruption.runBusy(() => apply(...given));
  return { json: true, filter, columns: undefined };
}

/** Builds the context of one command. Nothing is opened until it is needed. */
function composeContext(
  { command, args, flags }: ParsedCommand,
  project: Project | undefined,
  { system, output, interruption }: Needs<'system' | 'output' | 'interruption'>,
): { readonly context: CommandContext; close(): Promise<void> } {
  const { signal } = interruption;
  const folders = findFolders(system);
  const settings = new Settings(system, (sentence) => void output.warn(sentence), project);
  const timeout = readText(flags, 'timeout');
  const limits = {
    timeoutMs: readRequestTimeout(system.env, flags),
    maxPauseMs: timeout === undefined ? undefined : durationMs(timeout, '--timeout'),
  };
  const clients = new Clients({ system, output, settings, ...limits, isVerbose: flags.verbose === true });
  const { connect } = clients;
  const renewals = new Set<Promise<unknown>>();
  const services = new ServiceConnector({
    ...{ system, output, folders, settings, flags, connect, signal },
    findFormat: (service) => clients.findFormat(service),
    isChanging: command.changes === true,
    toCredential: (signIn, source, store) =>
      createSignInCredential(signIn, source, {
        store,
        now: system.now,
        refresh: async (spent) => {
          const { refreshSignIn } = await import('./sign-in/tokens.js');
          return refreshSignIn(connect, system.now, spent);
        },
        onRenewal: (renewal) => void renewals.add(renewal),
      }),
  });
  const context = {
    ...{ command, args, flags, system, output, interruption, signal, folders, settings, connect, services },
    ledger: openLedger(nameProgram(system.env), folders.state, system.now, system.identity, system.cwd),
    mayAsk: mayAsk(system, flags),
    runCommand,
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

/** Where a token comes from that signing in does not replace. */
const TOKEN_SOURCES = ['--token-file', 'REGEN_KEY_FILE', ...TOKEN_VARIABLES];

/** Adds lines to the problems of a configuration file. */
async function locateError(
  error: unknown,
  asked: ParsedCommand | undefined,
  { cwd }: System,
): Promise<unknown> {
  const { code, problems } = error as { code?: string; problems?: readonly Problem[] };
  const file = asked && readText(asked.flags, 'config');
  if (code !== 'invalid_configuration' || !problems || file === undefined) return error;
  const { locateProblems } = await import('./connect/service-configuration.js');
  const from = readText(asked?.flags ?? {}, 'from') ?? '';
  return { code, problems: await locateProblems(problems, resolve(cwd, from, file)) };
}

async function describeFailure(
  error: unknown,
  asked: ParsedCommand | undefined,
  services: ServiceConnector | undefined,
  { system, interruption: { hint: resume, hasBegun } }: Needs<'system' | 'interruption'>,
): Promise<Failure> {
  const { toFailure } = await import('./command/to-failure.js');
  const failure = toFailure(error, asked, { hint: resume, hasBegun, isChanging: services?.isChanging });
  const { code, hint: given, exit } = failure.facts;
  // What several packs lack is one failure, and a pack that another service has was not withdrawn.
  const isAbsent = code === 'not_found' || (code === 'install_failed' && !given);
  const other = isAbsent ? services?.absenceHint : undefined;
  if (other && (services?.isEmbeddedAddress || (exit === exitCodes.notFound && !given)))
    return new Failure(failure.text, { ...failure.facts, hint: other });
  if (!asked || code !== 'unauthenticated') return failure;
  const { credentialSource: source } = services ?? {};
  const { explainEmpty } = await import('./connect/explain-token.js');
  const hint = services?.isEmbeddedAddress
    ? 'This is the embedded service. To use it as its owner, pass --profile local, without an address.'
    : source === undefined
      ? explainEmpty(system.env)
      : TOKEN_SOURCES.includes(source) &&
        `The token of ${source} is unknown, expired or revoked. Replace it${services?.target.profile ? ', or remove it to use the sign-in of the profile' : ''}.`;
  return hint ? new Failure(failure.text, { ...failure.facts, hint }) : failure;
}

/** Loads a file of `commands/`. The build writes out the imports: see scripts/bundle.ts. */
export const loadCommand = (name: string): Promise<CommandFile> => import(`./commands/${name}.ts`);

async function loadRunner({ module, words }: Command): Promise<RunCommand> {
  const { run } = await loadCommand(module);
  return typeof run === 'object' ? (run[words.at(-1) as string] as RunCommand) : run;
}
