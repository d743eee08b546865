import type { Client } from '../../client/client.js';
import type { WireFormat } from '../../client/wire-format.js';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { regen, say } from '../../contract/schema/message.js';
import { serviceKey } from '../../flows/tasks/ledger.js';
import type { Target } from '../../flows/tasks/task.js';
import type { SigningService } from '../../flows/trust/verify-statement.js';
import { STANDARD_PORT } from '../../wire/standard-port.js';
import { type FlagValues, readText } from '../command/command.js';
import { version } from '../command/version.js';
import { Failure, usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';
import { type Credential, chooseCredential } from './choose-credential.js';
import type { Connect } from './clients.js';
import { CredentialStore, type SignIn } from './credentials.js';
import type { Folders } from './folders.js';
import { KnownKeysFile } from './known-keys.js';
import { findLocal, type LocalService, readRecordedUrl } from './local.js';
import type { ProfileOrAddress, Settings } from './settings.js';
import { chooseTarget, isNamed, TOKEN_VARIABLES } from './settings.js';
import { ensureLocal } from './start-local.js';
import { warnOfOtherWriter } from './store.js';

export interface Service {
  readonly name: string;
  readonly url: string;
  readonly client: Client;
  readonly credential: Credential | undefined;
  readonly store: CredentialStore;
  readonly signer: SigningService;
  /** Set for the embedded service. */
  readonly local?: LocalService;
}

export interface ServicesContext {
  readonly system: System;
  readonly output: Output;
  readonly folders: Folders;
  readonly settings: Settings;
  readonly flags: FlagValues;
  readonly connect: Connect;
  findFormat(service: ProfileOrAddress): Promise<WireFormat>;
  readonly isChanging: boolean;
  readonly signal: AbortSignal;
  /** Creates a credential that renews the sign-in when it expires. */
  toCredential(signIn: SignIn, source: string, store: CredentialStore): Credential;
}

/** Ends a sentence about what was asked although the user has named no service. */
export const IN_EMBEDDED =
  'in the service of your account on this machine. To use another one, pass --profile or --base-url.';

/** Connects a command to its service. Nothing is opened or started until it is needed. */
export class ServiceConnector {
  /** Whether the command changes something on the service. A command that may do both sets this before it sends. */
  isChanging: boolean;
  /** Where the credential of the latest service comes from. */
  credentialSource: string | undefined;
  readonly #context: ServicesContext;
  readonly #services = new Map<string, Promise<Service>>();
  #used: Target | undefined;

  constructor(context: ServicesContext) {
    this.#context = context;
    this.isChanging = context.isChanging;
  }

  get target(): Target {
    const { flags, system, settings } = this.#context;
    return this.#used ?? chooseTarget(flags, system.env, settings);
  }

  /** Makes this command use the service of a task or lock file, whose names its requests and failures then have. */
  use(target: Target): void {
    this.#used = target;
  }

  /** How the service of this command writes requests and answers. */
  async findFormat(): Promise<WireFormat> {
    return this.#context.findFormat(this.target);
  }

  /** Whether the service was named on the command line. */
  get isTargetGiven(): boolean {
    return ['--base-url', '--profile'].includes(this.target.source);
  }

  /** What to do where something is not found in the embedded service, which the user has not named. */
  get absenceHint(): string | undefined {
    if (this.#services.size === 0) return undefined;
    const { baseUrl, source, lock } = this.target;
    if (lock && this.isEmbeddedAddress)
      return `The registry of ${source}, ${baseUrl}, is now the embedded service of this account. If another service had this address, pass its new one with --base-url.`;
    return this.isEmbeddedByDefault ? `This was looked for only ${IN_EMBEDDED}` : undefined;
  }

  /** Whether the embedded service was asked, and the user has not named it. */
  get isEmbeddedByDefault(): boolean {
    const { baseUrl, source, lock } = this.target;
    const isDefault = baseUrl === undefined && (source === 'default' || lock !== undefined);
    return isDefault && this.#services.has('local');
  }

  /** The flags with which other commands, which do not read the lock file, use its registry. */
  get lockFlags(): FlagValues {
    const { lock, profile, baseUrl } = this.#used ?? {};
    if (!lock || baseUrl === undefined) return {};
    return profile === undefined ? { 'base-url': baseUrl } : { profile };
  }

  /** The address that a request would go to, only for display. Starts nothing. */
  get shownUrl(): string {
    return (
      this.target.baseUrl ??
      readRecordedUrl(this.#context.folders.data) ??
      `http://127.0.0.1:${STANDARD_PORT}`
    );
  }

  /** Whether the address that this command uses is that of the embedded service, whose owner is known to its profile alone. */
  get isEmbeddedAddress(): boolean {
    const { baseUrl } = this.target;
    const recorded = baseUrl === undefined ? undefined : readRecordedUrl(this.#context.folders.data);
    if (baseUrl === undefined || recorded === undefined) return false;
    const { hostname, port } = new URL(baseUrl);
    return isLoopbackHost(hostname) && port === new URL(recorded).port;
  }

  get mayStart(): boolean {
    const { flags, system, settings } = this.#context;
    return (
      flags.autostart !== false &&
      !system.env.REGEN_NO_AUTOSTART &&
      settings.get('autostart')?.value !== 'false'
    );
  }

  /** Connects to a service (default: that of this command), and starts the embedded one if necessary. */
  reach(target: Target = this.target): Promise<Service> {
    const key = toKey(target);
    const known = this.#services.get(key);
    if (known) return known;
    const reached = this.#reach(target);
    this.#services.set(key, reached);
    // The next call retries.
    reached.catch(() => this.#services.delete(key));
    return reached;
  }

  /**
   * Uses a stored token of a publisher where no one is signed in, because it shows the publisher's own versions.
   * @param nodeId whose publisher is meant, if there are several tokens
   */
  async readAsPublisher(nodeId?: string): Promise<void> {
    const { target } = this;
    const { connect, signal } = this.#context;
    const service = await this.reach(target);
    const kept = service.credential ? {} : await service.store.read();
    if (kept.publish_tokens === undefined) return;
    const { connectAsPublisher } = await import('./connect-as-publisher.js');
    const changed = await connectAsPublisher(service, { nodeId, target, kept, connect, signal });
    if (changed) this.#services.set(toKey(target), Promise.resolve({ ...service, ...changed }));
  }

  /** Connects to the service of this command, unless that would start the embedded one. */
  async reachRunning(): Promise<Service | undefined> {
    const { folders, connect, signal } = this.#context;
    const isReachable =
      this.target.baseUrl !== undefined ||
      (await findLocal(folders.data, connect, { signal }).catch(() => undefined));
    return isReachable ? this.reach() : undefined;
  }

  /** Forgets the embedded service after it has ended, so that the next call of `reach` starts it again. */
  forgetEmbedded(): void {
    this.#services.delete('local');
  }

  openCredentialStore(target: Target = this.target): CredentialStore {
    const { system, settings, output } = this.#context;
    const warn = (sentence: string) => void output.warn(sentence);
    return new CredentialStore(system, target, warn, settings.credentialStore);
  }

  openKnownKeys(): KnownKeysFile {
    const { folders, output } = this.#context;
    return new KnownKeysFile(folders, (sentence) => void output.warn(sentence));
  }

  /**
   * Prints the service on which something was changed.
   * @param destroyed what was destroyed there, if something was
   */
  async announce(destroyed?: string): Promise<void> {
    const { name, url, local } = await this.reach();
    const place = name === url ? url : `${name} (${url})`;
    if (destroyed !== undefined)
      return this.#context.output.note(local ? `${destroyed}.` : `${destroyed} on ${place}.`);
    if (!local) await this.#context.output.note(`Done on ${place}.`);
  }

  async #reach(target: Target): Promise<Service> {
    const { system, flags, output, connect, toCredential } = this.#context;
    const { env } = system;
    const names = [...TOKEN_VARIABLES, 'REGEN_KEY_FILE', 'REGEN_BASE_URL'];
    const hasTokens = flags['token-file'] ?? names.some((name) => env[name] !== undefined);
    const unnamed = hasTokens && !isNamed(target) ? await import('./explain-token.js') : undefined;
    unnamed?.refuseUnnamed(target, { env, flags, isChanging: this.isChanging });
    const local = target.baseUrl === undefined ? await this.#reachEmbedded() : undefined;
    const url = local?.url ?? (target.baseUrl as string);
    const store = this.openCredentialStore(target);
    const tokenFile = readText(flags, 'token-file');
    const credential = await chooseCredential(system, {
      ...{ target, store, tokenFile, owner: local?.owner },
      toCredential: (signIn, source) => toCredential(signIn, source, store),
    });
    this.credentialSource = credential?.source;
    const isOwner = local !== undefined && credential === local.owner;
    if (isOwner) await unnamed?.warnOfUnused(target, env, output);
    const client = isOwner
      ? local.client
      : await connect(url, credential, { ...target, socketPath: local?.socket });
    const signer = {
      ...{ client, service: serviceKey(target), isOwn: local !== undefined },
      ...{ knownKeys: this.openKnownKeys(), signal: this.#context.signal },
    };
    return { name: target.name, url, client, credential, store, signer, ...(local && { local }) };
  }

  async #reachEmbedded(): Promise<LocalService> {
    const { system, folders, output, connect, signal } = this.#context;
    warnOfOtherWriter(folders.data, (sentence) => void output.warn(sentence));
    if (!this.mayStart) {
      const running = await findLocal(folders.data, connect, { signal });
      if (running) return running;
      throw new Failure('The embedded service is not running, and autostart is turned off.', {
        code: 'local_service_unavailable',
        hint: say`Start it with: ${regen('serve', '--detach')}`,
      });
    }
    const { port, isFixed } = readPort(system.env);
    const start = {
      folder: folders.data,
      logFile: folders.serviceLog,
      version,
      flags: ['--port', String(port), '--until-idle', IDLE_TIME, ...(isFixed ? [] : ['--any-port'])],
      ...(isFixed && { fixedPort: port }),
    };
    const { service, started } = await ensureLocal(system, start, connect, signal);
    if (started)
      await output.note(`Started the embedded service at ${service.url}, with its data in ${folders.data}.`);
    return service;
  }
}

function toKey({ profile = '', baseUrl }: Target): string {
  return baseUrl === undefined ? 'local' : `${profile} ${baseUrl}`;
}

// Decided: a service that was started automatically exits after 10 minutes without work.
const IDLE_TIME = '10m';

function readPort(env: System['env']): { port: number; isFixed: boolean } {
  const given = env.REGEN_LOCAL_PORT;
  if (!given) return { port: STANDARD_PORT, isFixed: false };
  const port = Number(given);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw usage(`REGEN_LOCAL_PORT must be a port from 1 to 65535, not '${given}'.`);
  }
  return { port, isFixed: true };
}
