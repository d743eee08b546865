import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isExpected, KeychainError, type Place } from '../terminal/keychain.js';
import type { System } from '../terminal/system.js';
import { findFolders } from './folders.js';
import { Store, type Warn } from './store.js';

/** A sign-in at an identity provider, as it was last refreshed. */
export interface SignIn {
  readonly issuer: string;
  readonly client_id: string;
  /** Whom the access token is for (RFC 8707). */
  readonly resource?: string;
  /** The audience that its access tokens must have; absent in sign-ins of earlier releases. */
  readonly audience?: string;
  readonly access_token: string;
  readonly refresh_token?: string;
  /** Of the access token, ISO 8601; absent where the issuer does not say. */
  readonly expires_at?: string;
}

/** What is kept for one service. */
export interface Credentials {
  /** For a person to recognise the file. */
  readonly service?: string;
  /** One that a person brought. */
  readonly token?: string;
  readonly sign_in?: SignIn;
  /** Personal access tokens by publisher id. */
  readonly publish_tokens?: Readonly<Record<string, string>>;
  /** Where all of it but the service is; absent: in the file. */
  readonly kept_in?: 'keychain';
}

type Edit = (values: Credentials) => Credentials | Promise<Credentials>;

/** The credentials of one service: one file a service, because each change locks and rewrites a whole file. */
export class CredentialStore {
  readonly #store: Store;

  /**
   * @param service the service's base address, or `local` for the embedded one
   * @param place where a person wants secrets to be kept
   */
  constructor(
    readonly system: System,
    readonly service: string,
    readonly warn: Warn,
    readonly place: Place,
  ) {
    this.#store = new Store(
      join(findFolders(system).config, 'credentials', `${fileName(service)}.json`),
      warn,
    );
  }

  get path(): string {
    return this.#store.path;
  }

  /** What is kept; without its secrets where the keychain does not give them, which is said. */
  read(): Promise<Credentials> {
    return this.#readable(checkCredentials(this.#store.read()));
  }

  /** Where the secrets lie, in a person's words. */
  placeOf({ kept_in }: Credentials): string {
    return kept_in ? "this system's keychain" : this.path;
  }

  keepToken(token: string): Promise<Credentials> {
    return this.#keep(({ sign_in: _, ...values }) => ({ ...values, token }));
  }

  keepSignIn(sign_in: SignIn): Promise<Credentials> {
    return this.#keep(({ token: _, ...values }) => ({ ...values, sign_in }));
  }

  keepPublishToken(publisherId: string, token: string): Promise<Credentials> {
    return this.#keep((values) => ({
      ...values,
      publish_tokens: { ...values.publish_tokens, [publisherId]: token },
    }));
  }

  /** Changes the sign-in as it is kept at that moment; every other process waits meanwhile. */
  async changeSignIn(edit: (kept: SignIn | undefined) => Promise<SignIn | undefined>): Promise<void> {
    await this.#change(
      async ({ sign_in, ...values }) => {
        const changed = await edit(sign_in);
        return { ...values, ...(changed && { sign_in: changed }) };
      },
      // What cannot be read must not be written over.
      (open) => this.#whole(open),
    );
  }

  async forgetPublishToken(publisherId: string): Promise<void> {
    await this.#change(
      ({ publish_tokens = {}, ...values }) => {
        const { [publisherId]: _, ...rest } = publish_tokens;
        return { ...values, publish_tokens: rest };
      },
      (open) => this.#whole(open),
    );
  }

  async forget(): Promise<void> {
    await this.#store.change(async (values) => {
      if (checkCredentials(values).kept_in) await this.#removeFromKeychain();
      return {};
    });
  }

  /** Something new is to be kept: the moment to choose its place. */
  #keep(edit: Edit): Promise<Credentials> {
    const { place, system } = this;
    const wanted = place === 'keychain' || (place === 'auto' && isExpected(system));
    return this.#change(
      async (values) => {
        const { kept_in: _, ...rest } = await edit(values);
        return { ...rest, service: this.service, ...(wanted && { kept_in: 'keychain' as const }) };
      },
      (open) => this.#readable(open),
    );
  }

  async #change(edit: Edit, read: (open: Credentials) => Promise<Credentials>): Promise<Credentials> {
    let after: Credentials = {};
    let left = false;
    await this.#store.change(async (values) => {
      const before = checkCredentials(values);
      const whole = await edit(await read(before));
      after = whole.kept_in ? await this.#intoKeychain(whole) : whole;
      left = before.kept_in !== undefined && !after.kept_in;
      return { ...after };
    });
    if (left) await this.#removeFromKeychain();
    return after;
  }

  async #readable(open: Credentials): Promise<Credentials> {
    try {
      return await this.#whole(open);
    } catch (error) {
      if (!(error instanceof KeychainError)) throw error;
      this.warn(`The keychain does not give the credentials of ${this.service}: ${error.message}.`);
      return open;
    }
  }

  /** @throws KeychainError */
  async #whole(open: Credentials): Promise<Credentials> {
    if (!open.kept_in) return open;
    const secrets = await this.system.keychain({ action: 'read', account: this.path });
    if (secrets === undefined) throw new KeychainError('they are not in it, or it is locked');
    return { ...open, ...checkCredentials(JSON.parse(secrets)) };
  }

  /** @returns what is left for the file: all of it, where the keychain does not take the secrets */
  async #intoKeychain({ kept_in, service, ...secrets }: Credentials): Promise<Credentials> {
    try {
      const secret = JSON.stringify(secrets);
      await this.system.keychain({ action: 'write', account: this.path, secret });
      return { service, kept_in };
    } catch (error) {
      if (!(error instanceof KeychainError)) throw error;
      this.warn(`The keychain cannot be used: ${error.message}. The credentials are kept in ${this.path}.`);
      return { service, ...secrets };
    }
  }

  async #removeFromKeychain(): Promise<void> {
    try {
      await this.system.keychain({ action: 'remove', account: this.path });
    } catch (error) {
      if (!(error instanceof KeychainError)) throw error;
      this.warn(`The keychain still holds credentials of ${this.service}: ${error.message}.`);
    }
  }
}

/** What of a file is ours and whole; one edited by hand may hold anything. */
function checkCredentials(values: Record<string, unknown>): Credentials {
  const { service, token, sign_in, publish_tokens, kept_in } = values;
  return {
    ...(typeof service === 'string' && { service }),
    ...(typeof token === 'string' && { token }),
    ...(isSignIn(sign_in) && { sign_in }),
    ...(publish_tokens !== undefined && { publish_tokens: selectTexts(publish_tokens) }),
    ...(kept_in === 'keychain' && { kept_in }),
  };
}

function isSignIn(value: unknown): value is SignIn {
  const { issuer, client_id, access_token } = (value ?? {}) as Partial<SignIn>;
  return [issuer, client_id, access_token].every((one) => typeof one === 'string');
}

/** The entries of an object that are text. */
function selectTexts(value: unknown): Record<string, string> {
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
