import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { Agent } from 'undici';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { type AddressRules, createAddressCheck } from './address-check.js';

/** Why a URL that a user chose is not requested; the message continues its name. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** Resolves a name to all of its addresses, as Node's own `lookup` does. */
export type Lookup = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/** Where the service is, which decides what it requests for its users. */
export interface OwnOrigin extends AddressRules {
  /** Its own base URL. */
  readonly serviceOrigin: string;
  /** Whether it may request other addresses of loopback: only if all of its users are on this machine. */
  readonly loopbackAllowed: boolean;
}

export interface GuardedAgentOptions extends OwnOrigin {
  /** Whether the service's own origin is always allowed. */
  readonly allowOwn?: boolean;
  /** Resolves names. Default: the system's resolver. */
  readonly lookup?: Lookup | undefined;
}

// Decided: private, loopback and link-local addresses are refused after name resolution, and the address that
// was checked is the address that is used. A service that listens on loopback only allows loopback, and settings allow
// networks.
/**
 * Creates an agent for one request to a URL that a user chose. Destroy it after the request.
 * @throws AddressRefused if the URL has an address that is not public; the request does, if its name has none
 * @internal
 */
export async function createGuardedAgent(
  url: URL,
  { serviceOrigin, allowOwn = false, lookup, ...rules }: GuardedAgentOptions,
): Promise<Agent> {
  const isOwn = allowOwn && url.origin === new URL(serviceOrigin).origin;
  if (!isOwn) refuseLiteral(url, rules);
  const isAllowed = isOwn ? () => true : createAddressCheck(rules);
  // Loaded with the first request: a service may never send one.
  const { Agent } = await import('../../wire/undici.js');
  return new Agent({ connect: { lookup: createCheckedLookup(isAllowed, lookup) }, connections: 1 });
}

/**
 * Refuses a literal address, which is not looked up, and names of this machine.
 * @throws AddressRefused
 */
export function refuseLiteral({ hostname }: URL, rules: AddressRules): void {
  const literal = isLoopbackHost(hostname) ? '127.0.0.1' : hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) && !createAddressCheck(rules)(literal))
    throw new AddressRefused('its address is not public');
}

/** Creates a resolver that drops addresses which are not allowed. */
function createCheckedLookup(
  isAllowed: (address: string) => boolean,
  resolve: Lookup = systemLookup,
): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const usable = error ? [] : found.filter(({ address }) => isAllowed(address));
      const [first] = usable;
      if (error) done(error, '', 0);
      else if (!first) done(new AddressRefused('its address is not public'), '', 0);
      else if (options.all) done(null, usable);
      else done(null, first.address, first.family);
    });
  };
}
