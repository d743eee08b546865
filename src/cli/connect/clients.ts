import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Client, createClient } from '../../client/client.js';
import type { Trace } from '../../client/trace.js';
import type { Naming } from '../../contract/naming/naming.js';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { version } from '../command/version.js';
import { usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { Silence } from '../terminal/silence.js';
import type { System } from '../terminal/system.js';
import { type Credential, fixedCredential } from './credential.js';
import { readNaming, type Settings } from './settings.js';

/**
 * Creates a client for a service, which is closed when the command ends.
 * @param socketPath a socket or named pipe to use instead of the port
 */
export type Connect = (
  baseUrl: string,
  credential?: Credential | string,
  socketPath?: string,
) => Promise<Client>;

export interface ClientsContext {
  readonly system: Pick<System, 'cwd' | 'env'>;
  readonly output: Pick<Output, 'note'>;
  readonly settings: Settings;
  /** Whether requests are traced on stderr. */
  readonly isVerbose: boolean;
  /** The idle timeout of a request. Default: that of the client. */
  readonly timeoutMs?: number | undefined;
}

/** The HTTP clients of one command, with its certificates, proxy and trace. */
export class Clients {
  readonly #context: ClientsContext;
  readonly #namings = new Map<string, Promise<Naming | undefined>>();
  readonly #open: { readonly client: Client; readonly silence: Silence }[] = [];

  constructor(context: ClientsContext) {
    this.#context = context;
  }

  readonly connect: Connect = async (baseUrl, credential, socketPath) => {
    const { system, output, isVerbose, timeoutMs } = this.#context;
    if (credential !== undefined && socketPath === undefined) this.#requireEncryption(baseUrl);
    const ca = this.#readCertificates();
    const naming = await this.findNaming(baseUrl);
    const silence = new Silence(baseUrl, (sentence) => void output.note(sentence));
    const given = typeof credential === 'string' ? fixedCredential(credential, 'given') : credential;
    const client = createClient({
      baseUrl,
      socketPath,
      token: given?.token,
      renewToken: given?.renew,
      userAgent: `regen-cli/${version}`,
      env: system.env,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(ca && { ca }),
      naming,
      trace: (event: Trace) => {
        silence.observe(event);
        if (isVerbose) void output.note(formatTrace(event));
      },
    });
    this.#open.push({ client, silence });
    return client;
  };

  /**
   * Finds the names of a service; undefined if they are those of the contract.
   * @throws Failure if they cannot be read
   */
  findNaming(baseUrl: string): Promise<Naming | undefined> {
    const { settings, system } = this.#context;
    const found = this.#namings.get(baseUrl) ?? readNaming(system.cwd, settings.findNaming(baseUrl));
    this.#namings.set(baseUrl, found);
    return found;
  }

  /** Anyone on the network can read what plain http sends. */
  #requireEncryption(baseUrl: string): void {
    const url = new URL(baseUrl);
    if (url.protocol !== 'http:' || isLoopbackHost(url.hostname) || this.#context.settings.allowsHttp(url))
      return;
    throw usage(
      `${url.origin} is not encrypted, so the credential was not sent.`,
      `Use the https address, or allow http for a profile: regen config set profiles.NAME.base_url ${url.origin} && regen config set profiles.NAME.allow_http true`,
    );
  }

  #readCertificates(): string | undefined {
    const { settings, system } = this.#context;
    const setting = settings.get('ca_file');
    if (!setting) return undefined;
    try {
      return readFileSync(resolve(system.cwd, setting.value), 'utf8');
    } catch (error) {
      throw usage(`Could not read the certificates from ${setting.source}: ${(error as Error).message}.`);
    }
  }

  async close(): Promise<void> {
    for (const { silence } of this.#open) silence.close();
    await Promise.all(this.#open.map(({ client }) => client.close()));
  }
}

function formatTrace(event: Trace): string {
  switch (event.kind) {
    case 'request':
      return [`> ${event.method} ${event.url}`, ...formatHeaders('>', event.headers)].join('\n');
    case 'response':
      return [`< ${event.status} after ${event.ms} ms`, ...formatHeaders('<', event.headers)].join('\n');
    case 'redirect':
      return `> redirected to ${event.url}`;
    case 'retry':
      return `> retry in ${Math.round(event.pauseMs)} ms: ${event.reason.message}`;
  }
}

function formatHeaders(mark: string, headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${mark} ${name}: ${value}`);
}
