import { randomInt } from 'node:crypto';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { hasCode } from '../../contract/has-code.js';
import { type Part, regen, say } from '../../contract/schema/message.js';
import { findBuiltProgram } from '../../disk/built-program.js';
import { readHandleLimit } from '../../disk/file-handles.js';
import { MAX_GIVEN_BYTES, readFolderFile } from '../../disk/folder-file.js';
import { loadWithCode } from '../../disk/kept-code.js';
import { STANDARD_PORT } from '../../wire/standard-port.js';
import { PORTS, readNumber, readText } from '../command/command.js';
import { toConfigurationFailure } from '../command/to-failure.js';
import { version } from '../command/version.js';
import type { Needs } from '../connect/context.js';
import type { Folders } from '../connect/folders.js';
import { readConfiguration, readDocument, resolvePaths } from '../connect/service-configuration.js';
import { ensureLocal, findServiceLog } from '../connect/start-local.js';
import { warnOfOtherWriter } from '../connect/store.js';
import { durationMs } from '../terminal/duration.js';
import { tuneEngine } from '../terminal/engine.js';
import { Failure, usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { capitalize, shellWord, toJson } from '../terminal/text.js';
import { configFlag, dataFlag } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<'flags' | 'system' | 'output' | 'signal' | 'folders' | 'connect' | 'settings'>;

export const view = (): View => ({
  usage: 'serve',
  local: true,
  summary:
    'Run the service (registry and generation) on this machine, and print its URL on stdout once it is ready',
  flags: {
    '--host <address>': 'Address to listen on (default 127.0.0.1)',
    '--port <number>': 'Port to listen on, 0 for a free one (default 7717)',
    ...dataFlag,
    ...configFlag,
    '--work <kinds>': 'Run only these kinds of jobs, separated by commas; others share the database',
    '--no-work': 'Run no jobs; other services on the same database run them',
    '--any-port': { description: 'Use a free port if the given one is in use', hidden: true },
    '--until-idle <duration>': { description: 'Exit after this long without work', hidden: true },
    '--from <folder>': { description: 'The folder that paths are relative to', hidden: true },
    '--detach': 'Run in the background; return once the service is ready',
    '--scenario <path>': 'File with failures to simulate, to test scripts: TOML or JSON; only on loopback',
    '--seed <number>': 'With --scenario: repeat the run that had this seed',
    '--check': 'Check the configuration, and start nothing',
    '--print-config': 'Print the configuration with its defaults as JSON, and start nothing',
  },
  notes: [
    'Settings come from the flags, then from variables such as REGEN_SERVE_PORT, then from the configuration file; docs/configuration.md lists them.',
  ],
  examples: ['regen serve', 'regen serve --port 0 --data ./registry --detach'],
});

type Service = typeof import('../../service/index.js');
type StartService = Service['startService'];
type Configuration = import('../../service/index.js').Configuration;
type ConfigurationInput = NonNullable<Parameters<StartService>[0]>;
type RunningService = Awaited<ReturnType<StartService>>;
type Scenario = NonNullable<Parameters<StartService>[1]>['scenario'];

/** Runs the service until it is stopped. Its URL is the only line on stdout. */
export async function run(given: Context): Promise<void> {
  const { output, signal, flags, system } = given;
  const cwd = resolve(system.cwd, readText(flags, 'from') ?? '');
  const context = { ...given, system: { ...system, cwd } };
  requireFileHandles();
  tuneEngine(SERVICE_MODULES);
  const configuration = await buildConfiguration(context);
  const scenario = await readScenario(context);
  warnOfOtherWriter(requireDataFolder(configuration), (sentence) => void output.warn(sentence));
  if (flags.check || flags['print-config']) return showConfiguration(context, configuration, scenario);
  if (flags.detach) return startInBackground(context, configuration, scenario);
  const service = await startHere(context, configuration, scenario);
  await output.line(service.url);
  keepServiceCode();
  await output.note(say`Sign in as its owner: ${formatOwnerSignIn(context, service)}`);
  if (scenario) await output.note(describeScenario(scenario));
  const { describeEngines } = await loadService(given.folders);
  await noteEngines(output, await describeEngines(service.context.configuration, true));
  if (service.metricsUrl !== undefined) await output.note(`Metrics are at ${service.metricsUrl}.`);
  signal.addEventListener('abort', () => void service.stop());
  if (signal.aborted) await service.stop();
  const trouble = await service.ended;
  if (trouble) throw trouble;
}

/** What the service loads at its start. */
const SERVICE_MODULES =
  'assert child_process cluster crypto dns fs/promises http https perf_hooks readline stream/consumers timers/promises worker_threads zlib'.split(
    ' ',
  );

let keepCode: (() => void) | undefined;

/** Loads the service for any command, once, with the code that was kept of an earlier start. */
export async function loadService({ state }: Folders): Promise<Service> {
  if (!import.meta.url.endsWith('.cjs')) return import('../../service/index.js');
  keepCode ??= loadWithCode(findBuiltProgram('service-start.cjs'), join(state, 'code'));
  return createRequire(import.meta.url)(findBuiltProgram('service.cjs'));
}

/**
 * Keeps the compiled code of the service for its next start. At once, because the engine refuses code that was kept after
 * the first worker thread.
 */
function keepServiceCode(): void {
  try {
    keepCode?.();
  } catch {
    // It only saves time.
  }
}

/** Reads `--scenario`, which the service validates, and chooses a seed if there is none. */
async function readScenario({ flags, system }: Needs<'flags' | 'system'>): Promise<Scenario> {
  const path = readText(flags, 'scenario');
  if (flags.seed !== undefined && path === undefined) throw usage('--seed requires --scenario.');
  const seed = readNumber(flags, 'seed') ?? randomInt(2 ** 31);
  if (path === undefined) return undefined;
  const document = await readDocument(resolve(system.cwd, path));
  return { document, seed };
}

function describeScenario({ seed }: NonNullable<Scenario>): string {
  return `A scenario is on: requests and tasks fail on purpose. Repeat it with --seed ${seed}.`;
}

/** With fewer, native parts of the service abort the process. */
const MIN_FILE_HANDLES = 64;

function requireFileHandles(): void {
  const limit = readHandleLimit();
  if (limit === undefined || limit >= MIN_FILE_HANDLES) return;
  const message = `This process may open ${limit} files at once; the service needs at least ${MIN_FILE_HANDLES}.`;
  const hint = 'Raise the limit with ulimit -n, and start again.';
  throw new Failure(message, { code: 'out_of_resources', hint });
}

/** The command that signs in the owner of a service, from the machine that it runs on. */
function formatOwnerSignIn(
  { folders, settings }: Needs<'folders' | 'settings'>,
  { url, context }: RunningService,
): Part {
  const token = join(context.configuration.data ?? folders.data, 'owner.token');
  const known = settings.get('profiles.own.base_url')?.value ?? url;
  const profile = known === url ? 'own' : `own-${new URL(url).port}`;
  return regen('auth login', `--profile ${profile} --base-url ${url} --with-token < ${shellWord(token)}`);
}

/** Says what makes images and videos, so that previews are not mistaken for the work of a vendor. */
async function noteEngines(output: Output, engines: Readonly<Record<string, string>>): Promise<void> {
  for (const [made, by] of Object.entries(engines))
    await output.note(`${made.includes('.') ? made : capitalize(made)}: ${by}`);
}

const isSettingVariable = (name: string) => name.startsWith('REGEN_SERVE_');

/** A setting, or a setting of PostgreSQL's own clients, such as PGPASSFILE. */
const isServiceVariable = (name: string) => isSettingVariable(name) || /^PG[A-Z]/.test(name);

async function readVariables({
  folders,
  system,
}: Needs<'system' | 'folders'>): Promise<Record<string, unknown>> {
  const { env } = system;
  if (!Object.keys(env).some(isSettingVariable)) return {};
  const { readEnvironment } = await loadService(folders);
  const { settings, problems } = readEnvironment(env, (path) => readSettingFile(system.cwd, path));
  if (problems.length > 0) throw toConfigurationFailure(problems);
  return resolvePaths(settings, system.cwd);
}

function readSettingFile(cwd: string, path: string): string {
  try {
    return readFolderFile(resolve(cwd, path), MAX_GIVEN_BYTES).toString();
  } catch (error) {
    throw new Error(`names ${path}, which cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Reads the settings of a service from flags, environment and file. */
export async function buildConfiguration(
  context: Needs<'flags' | 'system' | 'folders'>,
): Promise<ConfigurationInput> {
  const { folders, system, flags } = context;
  const work = flags.work === false ? '' : readText(flags, 'work');
  const file = readText(context.flags, 'config');
  const host = readText(context.flags, 'host');
  const data = readText(context.flags, 'data');
  const idle = readText(context.flags, 'until-idle');
  const port = readNumber(flags, 'port', PORTS);
  const { mergeSettings } = await loadService(folders);
  const inFile = file ? await readConfiguration(resolve(system.cwd, file)) : {};
  const written: ConfigurationInput = mergeSettings(inFile, await readVariables(context));
  return {
    port: STANDARD_PORT,
    ...written,
    data: data ? resolve(system.cwd, data) : (written.data ?? folders.data),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(work !== undefined && { work: work.split(/[\s,]+/).filter(Boolean) as Configuration['work'] }),
    ...(idle !== undefined && { idleMs: durationMs(idle, '--until-idle') }),
    version,
  };
}

/** The data folder of a configuration that is not validated. */
export function requireDataFolder({ data }: ConfigurationInput): string {
  if (typeof data === 'string' && data !== '') return data;
  throw toConfigurationFailure([{ path: ['data'], message: 'must be the path of a folder' }]);
}

/** Prints the settings that the service would use. They name the places of keys; a password is masked. */
async function showConfiguration(
  { output, flags, folders, system }: Context,
  input: ConfigurationInput,
  scenario: Scenario,
): Promise<void> {
  const { describeEngines, findIssuerTrouble, loadScenario, maskPassword, parseConfiguration } =
    await loadService(folders);
  const { version: _, ...settings } = await parseConfiguration(input, system.env);
  if (scenario) await loadScenario(scenario, { version, ...settings });
  if (settings.database) settings.database = maskPassword(settings.database);
  if (flags['print-config']) return output.line(toJson(settings, 2));
  for (const sentence of await findIssuerTrouble(settings.issuers)) await output.warn(sentence);
  await output.note('The configuration is valid.');
  await noteEngines(output, await describeEngines(settings, true));
}

async function startHere(
  context: Needs<'flags' | 'folders'>,
  configuration: ConfigurationInput,
  scenario: Scenario,
): Promise<RunningService> {
  const { startService } = await loadService(context.folders);
  try {
    const { data, publicUrl } = configuration;
    const isEmbedded = data === context.folders.data && publicUrl === undefined;
    return await startService(configuration, { scenario, isEmbedded });
  } catch (error) {
    if (hasCode(error, 'port_taken') && context.flags['any-port'])
      return startHere(context, { ...configuration, port: 0 }, scenario);
    if (!hasCode(error, 'folder_in_use')) throw error;
    throw new Failure(error.message, {
      code: 'folder_in_use',
      hint: say`Stop the running service with: ${regen('serve stop')}`,
    });
  }
}

async function startInBackground(
  context: Context,
  input: ConfigurationInput,
  scenario: Scenario,
): Promise<void> {
  const { system, output, signal, folders, flags, connect } = context;
  const { describeEngines, parseConfiguration } = await loadService(folders);
  const configuration = await parseConfiguration(input, system.env);
  // The service runs in another folder.
  const kept = ['--from', system.cwd];
  for (const name of ['host', 'port', 'config', 'work', 'scenario']) {
    const value = flags[name];
    if (typeof value === 'string') kept.push(`--${name}`, value);
  }
  if (scenario) kept.push('--seed', String(scenario.seed));
  if (flags.work === false) kept.push('--no-work');
  const env = [...listKeyVariables(configuration), ...Object.keys(system.env).filter(isServiceVariable)];
  const folder = requireDataFolder(configuration);
  const start = { folder, logFile: findServiceLog(folders, folder), version, flags: kept, env };
  const { service, started } = await ensureLocal(system, start, connect, signal);
  if (!started)
    await output.note(`The service was already running${scenario ? '; the scenario is not applied' : ''}.`);
  else if (scenario) await output.note(describeScenario(scenario));
  const engines = started ? await describeEngines(configuration, true) : service.engines;
  await noteEngines(output, engines ?? {});
  await output.line(service.url);
}

function listKeyVariables({ storage, s3, ...others }: Configuration): string[] {
  const names: string[] = [];
  const hasBucket = storage?.startsWith('s3:') === true;
  // Where a key is read from is the only setting with this name.
  JSON.stringify(hasBucket ? { s3, others } : others, (name, value) => {
    if (name === 'env') names.push(value);
    return value;
  });
  return hasBucket ? [...names, 'AWS_ACCESS_KEY_ID'] : names;
}
