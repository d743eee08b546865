import { join } from 'node:path';
import type { PublicKey } from '../../contract/statement.js';
import type { KnownKeys } from '../../flows/trust/verify-statement.js';
import type { Output } from '../terminal/output.js';
import type { Folders } from './folders.js';
import { Store, type Warn } from './store.js';

/** The keys of services in a private file beside the credentials, by address. */
export class KnownKeysFile implements KnownKeys {
  readonly #store: Store;

  constructor({ config }: Pick<Folders, 'config'>, warn: Warn) {
    // Without its keys, any key would be accepted.
    this.#store = new Store(join(config, 'credentials', 'known-keys.json'), warn, false);
  }

  get place(): string {
    return this.#store.path;
  }

  find(service: string): readonly PublicKey[] {
    return selectKeys(this.#store.read()[service]);
  }

  async add(service: string, keys: readonly PublicKey[]): Promise<void> {
    await this.#store.change((values) => {
      const known = selectKeys(values[service]);
      const added = keys.filter(({ kid }) => !known.some((one) => one.kid === kid));
      return { ...values, [service]: [...known, ...added] };
    });
  }
}

/** Selects the valid keys of a file, which may have been edited by hand. */
function selectKeys(value: unknown): PublicKey[] {
  const isText = (one: unknown) => typeof one === 'string';
  return (Array.isArray(value) ? value : []).filter(
    ({ kid, kty, crv, x }: Partial<PublicKey>) =>
      isText(kid) && kty === 'OKP' && crv === 'Ed25519' && isText(x),
  );
}

/** Says with which key a service signed, if it was not known before. */
export async function reportSigner(
  output: Pick<Output, 'note'>,
  name: string,
  { kid, isNew }: { readonly kid: string; readonly isNew: boolean },
): Promise<void> {
  if (isNew) await output.note(`${name} signs with the key ${kid}, which is known from now on.`);
}
