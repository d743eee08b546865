import { resolve } from 'node:path';
import { type Client, createClient } from '../../client/client.js';
import type { Trace } from '../../client/trace.js';
import { WireFormat } from '../../client/wire-format.js';
import type { Naming } from '../../contract/naming/naming.js';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { regen, say } from '../../contract/schema/message.js';
import { MAX_GIVEN_BYTES, readFolderFile } from '../../disk/folder-file.js';
import { version } from '../command/version.js';
import { tuneEngine } from '../terminal/engine.js';
import { usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { Silence } from '../terminal/silence.js';
import type { System } from '../terminal/system.js';
import { type Credential, fixedCredential } from './choose-credential.js';
import type { ProfileOrAddress, Setting, Settings } from './settings.js';

/**
 * Creates a client for an address, which is closed when the command ends.
 * @param service the service at the address; absent for other addresses, such as that of an identity provider
 */
export type Connect = (
  baseUrl: string,
  credential?: Credential | string,
  service?: ReachedService,
) => Promise<Client>;

interface ReachedService extends ProfileOrAddress {
  /** A socket or named pipe to use instead of the port. */
  readonly socketPath?: string | undefined;
}

export interface ClientsContext {
  readonly system: Pick<System, 'cwd' | 'env'>;
  readonly output: Pick<Output, 'note'> & Partial<Pick<Output, 'secrets'>>;
  readonly settings: Settings;
  /** Whether requests are traced on stderr. */
  readonly isVerbose: boolean;
  /** The idle timeout of a request. Default: that of the client. */
  readonly timeoutMs?: number | undefined;
  /** How long the command waits: a request does not wait longer for a service that is busy. */
  readonly maxPauseMs?: number | undefined;
}

/** The HTTP clients of one command, with its certificates, proxy and trace. */
export class Clients {
  readonly #context: ClientsContext;
  readonly #names = new Map<string, Promise<ServiceNames>>();
  readonly #open: { readonly client: Client; readonly silence: Silence }[] = [];

  constructor(context: ClientsContext) {
    this.#context = context;
  }

  readonly connect: Connect = async (baseUrl, credential, service = {}) => {
    const { system, output, isVerbose, timeoutMs, maxPauseMs } = this.#context;
    const { profile, socketPath } = service;
    if (credential !== undefined && socketPath === undefined) this.#requireEncryption({ profile, baseUrl });
    const ca = this.#readCertificates();
    const names = await this.#findNames(service);
    await import('../../wire/undici.js');
    tuneEngine();
    const silence = new Silence(baseUrl, (sentence) => void output.note(sentence));
    const given = typeof credential === 'string' ? fixedCredential(credential, 'given') : credential;
    const client = createClient({
      baseUrl,
      socketPath,
      token: given && (() => learnToken(given, output)),
      renewToken: given?.renew,
      userAgent: `regen-cli/${version}`,
      env: system.env,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(maxPauseMs !== undefined && { maxPauseMs }),
      ...(ca && { ca }),
      ...names,
      trace: (event: Trace) => {
        silence.observe(event);
        if (isVerbose) void output.note(...formatTrace(event));
      },
    });
    this.#open.push({ client, silence });
    return client;
  };

  /**
   * Finds how a service writes requests and answers.
   * @throws Failure if its names cannot be read
   */
  async findFormat(service: ProfileOrAddress): Promise<WireFormat> {
    return new WireFormat(await this.#findNames(service));
  }

  #findNames(service: ProfileOrAddress): Promise<ServiceNames> {
    const { settings, system } = this.#context;
    const key = `${service.profile} ${service.baseUrl}`;
    const found = this.#names.get(key) ?? readNames(system.cwd, settings, service);
    this.#names.set(key, found);
    return found;
  }

  /** Anyone on the network can read what plain http sends. */
  #requireEncryption(service: ProfileOrAddress & { readonly baseUrl: string }): void {
    const url = new URL(service.baseUrl);
    const { settings } = this.#context;
    if (url.protocol !== 'http:' || isLoopbackHost(url.hostname) || settings.allowsHttp(service)) return;
    const { profile } = service;
    const name = profile ?? 'NAME';
    const allow = regen('config set', `profiles.${name}.allow_http true`);
    const setAddress = regen('config set', `profiles.NAME.base_url ${url.origin}`);
    throw usage(
      `${url.origin} is not encrypted, so the credential was not sent.`,
      say`Use the https address, or allow http for a profile: ${profile ? allow : say`${setAddress} && ${allow}`}`,
    );
  }

  #readCertificates(): string | undefined {
    const { settings, system } = this.#context;
    const setting = settings.get('ca_file');
    if (!setting) return undefined;
    try {
      return readFolderFile(resolve(system.cwd, setting.value), MAX_GIVEN_BYTES).toString();
    } catch (error) {
      throw usage(`Could not read the certificates from ${setting.source}: ${(error as Error).message}.`);
    }
  }

  async close(): Promise<void> {
    for (const { silence } of this.#open) silence.close();
    await Promise.all(this.#open.map(({ client }) => client.close()));
  }
}

async function learnToken(credential: Credential, { secrets }: ClientsContext['output']): Promise<string> {
  const token = await credential.token();
  secrets?.add(token);
  return token;
}

function formatTrace(event: Trace): string[] {
  switch (event.kind) {
    case 'request':
      return [`> ${event.method} ${event.url}`, ...formatHeaders('>', event.headers)];
    case 'response':
      return [`< ${event.status} after ${event.ms} ms`, ...formatHeaders('<', event.headers)];
    case 'redirect':
      return [`> redirected to ${event.url}`];
    case 'retry':
      return [`> retry in ${Math.round(event.pauseMs)} ms: ${event.reason.message}`];
  }
}

function formatHeaders(mark: string, headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${mark} ${name}: ${value}`);
}

/** The names of a service, as an option of its client. */
export interface ServiceNames {
  /** Undefined for the names of the contract. */
  readonly naming: Naming | undefined;
}

/** Loads how services write requests and answers whose naming is known without a file. */
export async function loadFormat(name: 'comfy'): Promise<WireFormat> {
  const { loadNaming } = await import('../../contract/naming/load-naming.js');
  return new WireFormat({ naming: await loadNaming(name, () => '') });
}

/** A lock file says how its registry writes, for those who have no profile of it. */
function findLockNaming({ profile, lock }: ProfileOrAddress): Setting | undefined {
  return profile === undefined && lock?.naming === 'comfy'
    ? { key: 'profiles.NAME.naming', value: 'comfy', source: 'lock file' }
    : undefined;
}

/**
 * Reads the names of a service: those of its profile. An address alone has the names of the profiles with this address.
 * @param cwd what the path of a naming file is relative to
 * @throws Failure if the profiles have different ones, or if they cannot be read
 */
export async function readNames(
  cwd: string,
  settings: Settings,
  service: ProfileOrAddress,
): Promise<ServiceNames> {
  const profiles = settings.listProfiles(service);
  const found = profiles.map((name) => settings.get(`profiles.${name}.naming`));
  if (new Set(found.map((one) => one?.value ?? 'regen')).size > 1)
    throw usage(
      `${service.baseUrl} is the address of the profiles ${profiles.join(' and ')}, which have different namings.`,
      `Name the profile instead of the address: --profile ${profiles[0]}`,
    );
  const setting = found[0] ?? findLockNaming(service);
  if (!setting) return { naming: undefined };
  const { InvalidNaming, loadNaming } = await import('../../contract/naming/load-naming.js');
  const readFile = (path: string) => readFolderFile(resolve(cwd, path), MAX_GIVEN_BYTES).toString();
  try {
    return { naming: await loadNaming(setting.value, readFile) };
  } catch (error) {
    const hint = say`Set it to comfy, or to the path of a naming file: ${regen('config set', `${setting.key} comfy`)}`;
    if (error instanceof InvalidNaming) {
      const details = error.problems.map(({ path, message }) => ({ path: path.join('.'), message }));
      throw usage(`The naming ${setting.value} is not valid.`, hint, details);
    }
    throw usage(`Could not read the naming ${setting.value}: ${(error as Error).message}.`, hint);
  }
}
