import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Client, createClient } from '../../client/client.js';
import type { Trace } from '../../client/trace.js';
import { type Credential, chooseCredential, fixed } from '../connect/credential.js';
import { CredentialStore } from '../connect/credentials.js';
import { type Folders, folders } from '../connect/folders.js';
import { Ledger } from '../connect/ledger.js';
import { ensureLocal, findLocal, type LocalService } from '../connect/local.js';
import { Settings } from '../connect/settings.js';
import { chooseTarget, isNamed, type Target } from '../connect/target.js';
import { signInHint } from '../sign-in/hint.js';
import { keptSignIn } from '../sign-in/kept-sign-in.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { Silence } from '../terminal/silence.js';
import type { System } from '../terminal/system.js';
import type { Command } from './command.js';
import { version } from './version.js';

/** The values of a command's flags by long name, as they were typed. */
export type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
export type ArgumentValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A service that was reached. */
export interface Service {
  readonly name: string;
  readonly url: string;
  readonly client: Client;
  readonly credential: Credential | undefined;
  readonly store: CredentialStore;
  /** Set for the embedded service. */
  readonly local?: LocalService;
}

export interface Parts {
  readonly system: System;
  readonly command: Command;
  readonly args: ArgumentValues;
  readonly flags: FlagValues;
  readonly output: Output;
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal;
  /** From now on a signal means nothing but to what else listens for it. */
  readonly leaveSignals: () => void;
}

/** One run of one command: what it was given, and the way to the service. Nothing is opened before it is asked for. */
export class Invocation {
  readonly system: System;
  readonly command: Command;
  readonly args: ArgumentValues;
  readonly flags: FlagValues;
  readonly output: Output;
  readonly signal: AbortSignal;
  readonly leaveSignals: () => void;
  readonly folders: Folders;
  readonly settings: Settings;
  readonly ledger: Ledger;
  /** Whether this run changes something on the service; a command that may do either says so before it calls. */
  changes: boolean;
  /** Said when the person interrupts: how to go on. */
  resumeHint: string | undefined;
  readonly #clients: Client[] = [];
  readonly #silences: Silence[] = [];
  readonly #renewals = new Set<Promise<unknown>>();
  readonly #services = new Map<string, Promise<Service>>();

  constructor(parts: Parts) {
    this.system = parts.system;
    this.command = parts.command;
    this.args = parts.args;
    this.flags = parts.flags;
    this.output = parts.output;
    this.signal = parts.signal;
    this.leaveSignals = parts.leaveSignals;
    this.changes = parts.command.changes === true;
    this.folders = folders(parts.system);
    this.settings = new Settings(parts.system, this.mended);
    this.ledger = new Ledger(this.folders.state, parts.system.now, parts.system.identity);
  }

  readonly mended = (sentence: string): void => void this.output.warn(sentence);

  /** The text of a flag, if it was given. */
  text(flag: string): string | undefined {
    const value = this.flags[flag];
    return typeof value === 'string' ? value : undefined;
  }

  /** Whether a person is there to answer. */
  get mayAsk(): boolean {
    const { stdin, stderr, env } = this.system;
    return Boolean(stdin.isTTY && stderr.isTTY && !env.CI && this.flags.input !== false);
  }

  /** Where this command goes. */
  get target(): Target {
    return chooseTarget(this.flags, this.system.env, this.settings);
  }

  /** The service this command talks to, or another one; the embedded one is started where need be. */
  service(target: Target = this.target): Promise<Service> {
    const key = target.baseUrl ?? 'local';
    const known = this.#services.get(key);
    if (known) return known;
    const reached = this.#reach(target);
    this.#services.set(key, reached);
    // Whoever asks again tries again.
    reached.catch(() => this.#services.delete(key));
    return reached;
  }

  /** Forgets the embedded service, which went away: the next one who asks for it starts it again. */
  lost(): void {
    this.#services.delete('local');
  }

  async #reach(target: Target): Promise<Service> {
    this.#refuseMistake(target);
    const local = target.baseUrl === undefined ? await this.#embedded() : undefined;
    const url = local?.url ?? (target.baseUrl as string);
    const store = this.credentialStore(target);
    const tokenFile = this.text('token-file');
    const credential = await chooseCredential(this.system, {
      ...(tokenFile && { tokenFile }),
      ...(isNamed(target) && { env: this.system.env }),
      kept: () => this.kept(store),
      ...(local && { ownerToken: local.ownerToken }),
    });
    const client = await this.connect(url, credential);
    return { name: target.name, url, client, credential, store, ...(local && { local }) };
  }

  // A job that was given tokens but no address meant some service, and surely not one made on the spot.
  #refuseMistake(target: Target): void {
    // Set but empty is what a job sees of a secret that it was not given.
    const names = ['REGEN_TOKEN', 'REGEN_PUBLISH_TOKEN', 'REGEN_BASE_URL'];
    const given = names.find((name) => this.system.env[name] !== undefined);
    if (!given || isNamed(target) || !this.changes) return;
    throw usage(
      `${given} is set${this.system.env[given] === '' ? ', but empty' : ''}, and no service is named.`,
      'Set REGEN_BASE_URL to the service it belongs to, or use --profile local for the embedded one.',
    );
  }

  credentialStore({ baseUrl }: Target = this.target): CredentialStore {
    const { system, settings, mended } = this;
    return new CredentialStore(system, baseUrl ?? 'local', mended, settings.credentialStore);
  }

  /** The credential that a person keeps for a service. */
  async kept(store: CredentialStore): Promise<Credential | undefined> {
    const kept = await store.read();
    const source = store.placeOf(kept);
    if (kept.token) return fixed(kept.token, source);
    if (!kept.sign_in) return undefined;
    const { refreshFor } = await import('../sign-in/tokens.js');
    return keptSignIn(kept.sign_in, source, {
      store,
      refresh: refreshFor(this),
      now: this.system.now,
      hint: signInHint(this),
      renewing: (renewal) => void this.#renewals.add(renewal),
    });
  }

  async #embedded(): Promise<LocalService> {
    const connect = (url: string, token?: string) => this.connect(url, token);
    const mayStart =
      this.flags.autostart !== false &&
      !this.system.env.REGEN_NO_AUTOSTART &&
      this.settings.get('autostart')?.value !== 'false';
    if (!mayStart) {
      const running = await findLocal(this.folders.data, connect);
      if (running) return running;
      throw new Failure('The embedded service is not running, and starting it is turned off.', {
        code: 'local_service_unavailable',
        exit: exitCodes.unreachable,
        hint: 'Start it with: regen serve --detach',
      });
    }
    const { port, fixedPort } = localPort(this.system.env);
    const { service, started } = await ensureLocal(
      this.system,
      {
        folder: this.folders.data,
        logFile: this.logFile,
        version,
        flags: ['--port', String(port), '--until-idle', idleTime, ...(fixedPort ? [] : ['--any-port'])],
        ...(fixedPort && { fixedPort: port }),
      },
      connect,
      this.signal,
    );
    if (started) {
      await this.output.note(
        `Started the embedded service at ${service.url}, with its data in ${this.folders.data}.`,
      );
    }
    return service;
  }

  get logFile(): string {
    return join(this.folders.state, 'service.log');
  }

  /** A client that is closed when the command ends. */
  async connect(baseUrl: string, credential?: Credential | string): Promise<Client> {
    const ca = this.#certificates();
    const silence = new Silence(baseUrl, (sentence) => void this.output.note(sentence));
    const given = typeof credential === 'string' ? fixed(credential, 'given') : credential;
    const client = createClient({
      baseUrl,
      token: given?.token,
      renewToken: given?.renew,
      userAgent: `regen-cli/${version}`,
      env: this.system.env,
      ...(ca && { ca }),
      trace: (event: Trace) => {
        silence.heard(event);
        if (this.flags.verbose) void this.output.note(traceLine(event));
      },
    });
    this.#clients.push(client);
    this.#silences.push(silence);
    return client;
  }

  #certificates(): string | undefined {
    const setting = this.settings.get('ca_file');
    if (!setting) return undefined;
    try {
      return readFileSync(resolve(this.system.cwd, setting.value), 'utf8');
    } catch (error) {
      throw usage(`The certificates of ${setting.source} cannot be read: ${(error as Error).message}.`);
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#renewals);
    for (const silence of this.#silences) silence.close();
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  /** Names the service after something was changed there. */
  async sayWhere(target: Target = this.target): Promise<void> {
    const { name, url } = await this.service(target);
    await this.output.note(`Done on ${name === url ? url : `${name} (${url})`}.`);
  }
}

/** The embedded service's port where nothing else is said. */
export const standardPort = 7717;

// Decided: a service started on the way ends after 10 minutes without work.
const idleTime = '10m';

function localPort(env: System['env']): { port: number; fixedPort: boolean } {
  const given = env.REGEN_LOCAL_PORT;
  if (!given) return { port: standardPort, fixedPort: false };
  const port = Number(given);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw usage(`REGEN_LOCAL_PORT is a port from 1 to 65535, not '${given}'.`);
  }
  return { port, fixedPort: true };
}

function traceLine(event: Trace): string {
  switch (event.kind) {
    case 'request':
      return [`> ${event.method} ${event.url}`, ...headerLines('>', event.headers)].join('\n');
    case 'response':
      return [`< ${event.status} after ${event.ms} ms`, ...headerLines('<', event.headers)].join('\n');
    case 'redirect':
      return `> redirected to ${event.url}`;
    case 'retry':
      return `> again in ${Math.round(event.pauseMs)} ms: ${event.reason.message}`;
  }
}

function headerLines(mark: string, headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${mark} ${name}: ${value}`);
}
