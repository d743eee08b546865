import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isLoopbackHost } from '../contract/schema/loopback.js';
import { type AddressKind, classifyAddress } from '../wire/addresses.js';
import { createCheckedLookup, type Lookup } from '../wire/checked-lookup.js';

/** A service named an address that only its own neighbours may name; the message is for people. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** From what everybody reaches to what only this machine does. */
const FROM_FAR_TO_NEAR: readonly AddressKind[] = [
  'public',
  'reserved',
  'link-local',
  'shared',
  'private',
  'loopback',
];

const PLACES: Readonly<Record<AddressKind, string>> = {
  public: 'at a public address',
  reserved: 'at a reserved address',
  'link-local': 'at a link-local address',
  shared: 'in a shared network',
  private: 'in a private network',
  loopback: 'on this machine',
};

export interface AddressRuleOptions {
  /** Resolves names. Default: the system's resolver. */
  readonly lookup?: Lookup | undefined;
  /** Whether the service is reached through a socket of this machine. */
  readonly isLocal?: boolean;
  /** Whether a proxy resolves the names, so that only literal addresses can be checked. */
  readonly isProxied?: boolean;
}

/**
 * Where a service may lead its client with the URLs and redirects that it answers: to public addresses, and to
 * addresses of the kind that it has itself; a service on this machine also into private networks. Never from https
 * to http.
 */
export class AddressRule {
  readonly #service: URL;
  readonly #options: AddressRuleOptions;
  readonly #resolve: Lookup;
  #kind: AddressKind | undefined;

  constructor(service: URL, options: AddressRuleOptions) {
    this.#service = service;
    this.#options = options;
    this.#resolve = options.lookup ?? systemLookup;
    this.#kind = options.isLocal ? 'loopback' : classifyHost(service.hostname);
  }

  isOwn(origin: string): boolean {
    return origin === this.#service.origin;
  }

  /**
   * Checks what is known of a URL before its name is resolved.
   * @throws AddressRefused
   */
  async check(url: URL): Promise<void> {
    if (this.isOwn(url.origin)) return;
    if (this.#service.protocol === 'https:' && url.protocol === 'http:') {
      throw new AddressRefused(
        `${this.#service.origin} names ${url.origin}, which is not encrypted, so nothing was sent there.`,
      );
    }
    await this.#findKind();
    const kind = classifyHost(url.hostname);
    if (kind && !this.#allows(kind)) throw this.#refuse(url.host, kind);
  }

  /** Resolves the names of connections to other origins. */
  readonly lookup: LookupFunction = (hostname, options, done) =>
    createCheckedLookup(
      (address) => this.#allows(classifyAddress(address)),
      (host, [first = '']) => this.#refuse(host, classifyAddress(first)),
      this.#resolve,
    )(hostname, options, done);

  /**
   * Resolves the name of the service itself, and remembers the farthest place where it was. A certificate proves that
   * it has moved; without one, its name must not begin to mean a nearer place.
   */
  readonly ownLookup: LookupFunction = (hostname, options, done) =>
    createCheckedLookup(
      (address, all) => {
        this.#remember(all);
        return this.#service.protocol === 'https:' || this.#allows(classifyAddress(address));
      },
      (host, [first = '']) => this.#refuse(host, classifyAddress(first)),
      this.#resolve,
    )(hostname, options, done);

  #allows(kind: AddressKind): boolean {
    return kind === 'public' || kind === this.#kind || (kind === 'private' && this.#kind === 'loopback');
  }

  #remember(addresses: readonly string[]): void {
    const seen = [...(this.#kind ? [this.#kind] : []), ...addresses.map(classifyAddress)];
    this.#kind = FROM_FAR_TO_NEAR.find((kind) => seen.includes(kind));
  }

  /** Resolves the name of a service that has not been asked anything yet. */
  async #findKind(): Promise<void> {
    if (this.#kind) return;
    if (!this.#options.isProxied) {
      await new Promise<void>((done) => {
        this.#resolve(this.#service.hostname, { all: true }, (error, found) => {
          if (!error) this.#remember(found.map(({ address }) => address));
          done();
        });
      });
    }
    this.#kind ??= 'public';
  }

  #refuse(host: string, kind: AddressKind): AddressRefused {
    const { origin } = this.#service;
    const why = `which is ${PLACES[kind]}, and ${origin} is not`;
    return new AddressRefused(`${origin} names ${host}, ${why}, so nothing was sent there.`);
  }
}

/** Undefined for a name that must be resolved. */
function classifyHost(hostname: string): AddressKind | undefined {
  if (isLoopbackHost(hostname)) return 'loopback';
  const literal = hostname.replace(/^\[|\]$/g, '');
  return isIP(literal) === 0 ? undefined : classifyAddress(literal);
}
