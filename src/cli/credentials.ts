import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { folders } from './folders.js';
import { type Mended, Store } from './store.js';
import type { System } from './system.js';

/** What is kept for one service. */
export interface Credentials {
  /** For a person to recognise the file. */
  readonly service?: string;
  readonly token?: string;
  /** Personal access tokens by publisher id. */
  readonly publish_tokens?: Readonly<Record<string, string>>;
}

/** The credentials of one service: one file a service, because each change locks and rewrites a whole file. */
export class CredentialStore {
  readonly #store: Store;

  /** @param service the service's base address, or `local` for the embedded one */
  constructor(
    system: System,
    readonly service: string,
    mended: Mended,
  ) {
    this.#store = new Store(join(folders(system).config, 'credentials', `${fileName(service)}.json`), mended);
  }

  get path(): string {
    return this.#store.path;
  }

  read(): Credentials {
    const { service, token, publish_tokens } = this.#store.read();
    return {
      ...(typeof service === 'string' && { service }),
      ...(typeof token === 'string' && { token }),
      publish_tokens: texts(publish_tokens),
    };
  }

  async keepToken(token: string): Promise<void> {
    await this.#store.change((values) => ({ ...values, service: this.service, token }));
  }

  async keepPublishToken(publisherId: string, token: string): Promise<void> {
    await this.#store.change((values) => ({
      ...values,
      service: this.service,
      publish_tokens: { ...(values as Credentials).publish_tokens, [publisherId]: token },
    }));
  }

  async forgetPublishToken(publisherId: string): Promise<void> {
    await this.#store.change((values) => {
      const { [publisherId]: _, ...rest } = (values as Credentials).publish_tokens ?? {};
      return { ...values, publish_tokens: rest };
    });
  }

  async forget(): Promise<void> {
    await this.#store.change(() => ({}));
  }
}

/** The entries of an object that are text; a file edited by hand may hold anything. */
function texts(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** Readable and unique: host and port, then a hash of the whole address. */
function fileName(service: string): string {
  if (service === 'local') return 'local';
  const { host, href } = new URL(service);
  const hash = createHash('sha256').update(href.replace(/\/+$/, '')).digest('hex').slice(0, 8);
  return `${host.replace(/[^a-z0-9.-]/gi, '_')}-${hash}`;
}
