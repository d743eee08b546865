import { resolve } from 'node:path';
import type { ConfigurationInput } from '../../service/configuration/configuration.js';
import type { RunningService } from '../../service/serve.js';
import { type Invocation, standardPort } from '../command/invocation.js';
import { version } from '../command/version.js';
import { ensureLocal } from '../connect/local.js';
import { readConfiguration } from '../connect/service-configuration.js';
import { durationMs } from '../terminal/duration.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';

/** Runs the service until it is told to end; its URL is the one line on stdout. */
export async function run(invocation: Invocation): Promise<void> {
  const { output, signal, flags } = invocation;
  const configuration = await configurationOf(invocation);
  if (flags.detach) return detach(invocation, configuration);
  const service = await start(invocation, configuration);
  await output.line(service.url);
  for (const note of makers(service)) await output.note(note);
  signal.addEventListener('abort', () => void service.stop());
  if (signal.aborted) await service.stop();
  await service.ended;
}

/** Who makes what, so that nobody takes a preview for a vendor's work. */
function makers({ context }: RunningService): string[] {
  const { image, video } = context.configuration.generation;
  const made = (by: typeof image | typeof video) =>
    by.engine === 'local'
      ? "previews made on this machine (engine: local-preview), not a vendor's work"
      : `made by the vendor at ${new URL(by.baseUrl).host}`;
  return [`Images are ${made(image)}.`, `Videos are ${made(video)}.`];
}

async function configurationOf(invocation: Invocation): Promise<ConfigurationInput> {
  const { folders, system } = invocation;
  const file = invocation.text('config');
  const host = invocation.text('host');
  const data = invocation.text('data');
  const idle = invocation.text('until-idle');
  const written = file ? await readConfiguration(resolve(system.cwd, file)) : {};
  return {
    port: standardPort,
    ...written,
    data: data ? resolve(system.cwd, data) : (written.data ?? folders.data),
    ...(host !== undefined && { host }),
    ...(invocation.text('port') !== undefined && { port: portOf(invocation.text('port') as string) }),
    ...(idle !== undefined && { idleMs: durationMs(idle, '--until-idle') }),
    version,
  };
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw usage(`--port is a number from 0 to 65535, not '${text}'.`);
}

async function start(invocation: Invocation, configuration: ConfigurationInput): Promise<RunningService> {
  const service = await import('../../service/index.js');
  const { DataUnusable, FolderInUse, InvalidConfiguration, OwnerTokenInvalid, PortTaken } = service;
  try {
    return await service.startService(configuration);
  } catch (error) {
    if (error instanceof PortTaken) {
      if (invocation.flags['any-port']) return start(invocation, { ...configuration, port: 0 });
      throw new Failure(error.message, { code: 'port_taken', exit: exitCodes.unreachable });
    }
    if (error instanceof FolderInUse) {
      const data = invocation.text('data');
      throw new Failure(error.message, {
        code: 'folder_in_use',
        exit: exitCodes.conflict,
        hint: `End the one that runs with: regen serve stop${data ? ` --data ${shellWord(data)}` : ''}`,
      });
    }
    if (error instanceof service.ResourceExhausted)
      throw new Failure(error.message, { code: 'out_of_resources', exit: exitCodes.unreachable });
    if (error instanceof DataUnusable)
      throw new Failure(error.message, { code: 'data_unusable', exit: exitCodes.usage });
    if (error instanceof InvalidConfiguration || error instanceof OwnerTokenInvalid)
      throw usage(error.message);
    throw error;
  }
}

async function detach(invocation: Invocation, configuration: ConfigurationInput): Promise<void> {
  const { system, output, signal, logFile, flags } = invocation;
  const kept = ['host', 'port', 'config'].flatMap((name) => {
    const value = flags[name];
    return typeof value === 'string'
      ? [`--${name}`, name === 'config' ? resolve(system.cwd, value) : value]
      : [];
  });
  const connect = (url: string, token?: string) => invocation.connect(url, token);
  const port = Number(invocation.text('port') ?? standardPort);
  const folder = configuration.data as string;
  const env = keyVariables(configuration);
  const start = { folder, logFile, version, flags: kept, fixedPort: port, env };
  const { service, started } = await ensureLocal(system, start, connect, signal);
  if (!started) await output.note('It was running already.');
  await output.line(service.url);
}

/** The environment variables that hold the keys of vendors. The configuration was not judged yet. */
function keyVariables({ generation }: ConfigurationInput): string[] {
  return [generation?.image, generation?.video].flatMap((maker) => {
    const name = maker?.engine === 'upstream' ? maker.key?.env : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}
