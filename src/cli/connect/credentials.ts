import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Target } from '../../flows/tasks/task.js';
import { isKeychainExpected, KeychainError, type SecretStorage } from '../terminal/keychain.js';
import type { System } from '../terminal/system.js';
import { findFolders } from './folders.js';
import { Store, type Warn } from './store.js';

/** A stored sign-in at an identity provider. */
export interface SignIn {
  readonly issuer: string;
  readonly client_id: string;
  /** The resource that the access token is for (RFC 8707). */
  readonly resource?: string;
  /** The required audience of its access tokens; absent in sign-ins of earlier releases. */
  readonly audience?: string;
  readonly access_token: string;
  readonly refresh_token?: string;
  /** When the access token expires, ISO 8601; absent if the issuer does not say. */
  readonly expires_at?: string;
}

/** The stored credentials of one service. */
export interface Credentials {
  /** The address, so that people can recognise the file. */
  readonly service?: string | undefined;
  /** The identity provider of the latest sign-in, and what was asked for; kept after signing out. */
  readonly provider?: { readonly issuer: string; readonly scope: string };
  readonly token?: string;
  readonly sign_in?: SignIn;
  /** Personal access tokens by publisher id. */
  readonly publish_tokens?: Readonly<Record<string, string>>;
  /** Where everything except `service` and `provider` is stored. Absent: in the file. */
  readonly kept_in?: 'keychain' | undefined;
}

type Edit = (values: Credentials) => Credentials | Promise<Credentials>;

/**
 * The credentials of one account: of a profile, of an address, or of the embedded service. One file per account, because
 * each change locks and rewrites a whole file. A profile without credentials uses those that were stored for its address.
 */
export class CredentialStore {
  readonly service: string;
  readonly #own: Store;
  #store: Store;

  /** @param storage where to store new secrets */
  constructor(
    readonly system: System,
    { profile, baseUrl }: Target,
    readonly warn: Warn,
    readonly storage: SecretStorage,
  ) {
    this.service = baseUrl ?? 'local';
    const open = (owner?: string) => {
      const name = `${toFileName(this.service, owner)}.json`;
      return new Store(join(findFolders(system).config, 'credentials', name), warn);
    };
    this.#own = open(profile);
    this.#store = this.#own;
    if (profile === undefined || existsSync(this.#own.path)) return;
    const shared = open();
    if (Object.keys(shared.read()).length > 0) this.#store = shared;
  }

  get path(): string {
    return this.#store.path;
  }

  /**
   * Reads the credentials. If the keychain fails, warns and leaves out the secrets.
   * @returns none for a program that was given a key, which is to use nothing else
   */
  async read(): Promise<Credentials> {
    if (this.system.env.REGEN_KEY_FILE) return {};
    return this.#readIfPossible(checkCredentials(this.#store.read()));
  }

  /** Describes where the secrets are stored. */
  describeStorage({ kept_in }: Credentials): string {
    return kept_in ? "this system's keychain" : this.path;
  }

  keepToken(token: string): Promise<Credentials> {
    this.#store = this.#own;
    return this.#keep(({ sign_in: _, ...values }) => ({ ...values, token }));
  }

  keepSignIn(sign_in: SignIn, provider: Credentials['provider']): Promise<Credentials> {
    this.#store = this.#own;
    return this.#keep(({ token: _, ...values }) => ({ ...values, sign_in, ...(provider && { provider }) }));
  }

  keepPublishToken(publisherId: string, token: string): Promise<Credentials> {
    return this.#keep((values) => ({
      ...values,
      publish_tokens: { ...values.publish_tokens, [publisherId]: token },
    }));
  }

  /** Changes the stored sign-in under a lock; other processes wait. */
  async changeSignIn(edit: (kept: SignIn | undefined) => Promise<SignIn | undefined>): Promise<void> {
    await this.#change(
      async ({ sign_in, ...values }) => {
        const changed = await edit(sign_in);
        return { ...values, ...(changed && { sign_in: changed }) };
      },
      // Credentials that cannot be read are never overwritten.
      (open) => this.#readSecrets(open),
    );
  }

  async forget(): Promise<void> {
    await this.#store.change(async (values) => {
      const { kept_in, provider } = checkCredentials(values);
      if (kept_in) await this.#removeFromKeychain();
      return provider ? { service: this.service, provider } : {};
    });
  }

  /** Stores a new credential, and chooses where to store the secrets. */
  #keep(edit: Edit): Promise<Credentials> {
    const { storage, system } = this;
    const wanted = storage === 'keychain' || (storage === 'auto' && isKeychainExpected(system));
    return this.#change(
      async (values) => {
        const { kept_in: _, ...rest } = await edit(values);
        return { ...rest, service: this.service, ...(wanted && { kept_in: 'keychain' as const }) };
      },
      (open) => this.#readIfPossible(open),
    );
  }

  async #change(edit: Edit, read: (open: Credentials) => Promise<Credentials>): Promise<Credentials> {
    let after: Credentials = {};
    let isMovedOut = false;
    await this.#store.change(async (values) => {
      const before = checkCredentials(values);
      const whole = await edit(await read(before));
      after = whole.kept_in ? await this.#writeToKeychain(whole) : whole;
      isMovedOut = before.kept_in !== undefined && !after.kept_in;
      return { ...after };
    });
    if (isMovedOut) await this.#removeFromKeychain();
    return after;
  }

  async #readIfPossible(open: Credentials): Promise<Credentials> {
    try {
      return await this.#readSecrets(open);
    } catch (error) {
      if (!(error instanceof KeychainError)) throw error;
      this.warn(`Could not read the credentials of ${this.service} from the keychain: ${error.message}.`);
      return open;
    }
  }

  /** @throws KeychainError */
  async #readSecrets(open: Credentials): Promise<Credentials> {
    if (!open.kept_in) return open;
    const secrets = await this.system.keychain({ action: 'read', account: this.path });
    if (secrets === undefined) throw new KeychainError('it is locked or does not have them');
    return { ...open, ...checkCredentials(JSON.parse(secrets)) };
  }

  /** @returns what to write to the file: everything, if the keychain cannot be used */
  async #writeToKeychain({ kept_in, service, provider, ...secrets }: Credentials): Promise<Credentials> {
    try {
      const secret = JSON.stringify(secrets);
      await this.system.keychain({ action: 'write', account: this.path, secret });
      return { service, kept_in, ...(provider && { provider }) };
    } catch (error) {
      if (!(error instanceof KeychainError)) throw error;
      this.warn(`Could not use the keychain: ${error.message}. The credentials are stored in ${this.path}.`);
      return { service, ...(provider && { provider }), ...secrets };
    }
  }

  async #removeFromKeychain(): Promise<void> {
    try {
      await this.system.keychain({ action: 'remove', account: this.path });
    } catch (error) {
      if (!(error instanceof KeychainError)) throw error;
      this.warn(`Could not remove the credentials of ${this.service} from the keychain: ${error.message}.`);
    }
  }
}

/** Selects the valid fields of a file, which may have been edited by hand. */
function checkCredentials(values: Record<string, unknown>): Credentials {
  const { service, provider, token, sign_in, publish_tokens, kept_in } = values;
  return {
    ...(typeof service === 'string' && { service }),
    ...(isProvider(provider) && { provider }),
    ...(typeof token === 'string' && { token }),
    ...(isSignIn(sign_in) && { sign_in }),
    ...(publish_tokens !== undefined && { publish_tokens: selectTexts(publish_tokens) }),
    ...(kept_in === 'keychain' && { kept_in }),
  };
}

function isProvider(value: unknown): value is NonNullable<Credentials['provider']> {
  const { issuer, scope } = (value ?? {}) as Partial<NonNullable<Credentials['provider']>>;
  return typeof issuer === 'string' && typeof scope === 'string';
}

function isSignIn(value: unknown): value is SignIn {
  const { issuer, client_id, access_token } = (value ?? {}) as Partial<SignIn>;
  return [issuer, client_id, access_token].every((one) => typeof one === 'string');
}

/** Selects the entries of an object that are text. */
function selectTexts(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/**
 * Creates a readable, unique file name: the profile or the host, then a hash of the whole address. A profile whose address
 * was changed is another account, so that its token never goes to the new address.
 */
function toFileName(service: string, profile?: string): string {
  if (service === 'local') return 'local';
  const { host, href } = new URL(service);
  const address = href.replace(/\/+$/, '');
  const hash = createHash('sha256').update(profile === undefined ? address : `${profile} ${address}`);
  const name = profile ?? host.replace(/[^a-z0-9.-]/gi, '_');
  return `${name}-${hash.digest('hex').slice(0, 8)}`;
}
