import { listTokens, maskTokens } from '../../wire/mask-tokens.js';
import type { Environment } from './keychain.js';

const SECRET_VARIABLE = /^REGEN_\w*(?:TOKEN|SECRET)$|^ACTIONS_ID_TOKEN_REQUEST_TOKEN$/;

/** A shorter one is not a secret, and may be a word of a message. */
const MIN_LENGTH = 8;

/** What no message of a run may show: everything that looks like a token, and the secrets that the run has read. */
export class SecretMask {
  readonly #argv: readonly string[];
  #known: readonly string[] = [];

  constructor(argv: readonly string[] = [], env: Environment = {}) {
    this.#argv = argv;
    for (const [name, value] of Object.entries(env)) if (SECRET_VARIABLE.test(name)) this.add(value?.trim());
  }

  add(secret = ''): void {
    if (secret.length < MIN_LENGTH || this.#known.includes(secret)) return;
    // The longest first, because it may contain another one.
    this.#known = [...this.#known, secret].sort((a, b) => b.length - a.length);
  }

  mask(text: string): string {
    return maskEach(maskTokens(text), this.#known);
  }

  /** Masks only what was typed on the command line: a result may be a new token. */
  maskTyped(text: string): string {
    const isTyped = (secret: string) => this.#argv.some((word) => word.includes(secret));
    return maskEach(text, [...this.#argv.flatMap(listTokens), ...this.#known.filter(isTyped)]);
  }
}

/** Masks each secret as it is, in JSON and in a URL. */
function maskEach(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    .reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
}
