import { isIP } from 'node:net';
import type { Agent } from 'undici';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { isPublicAddress } from '../../wire/addresses.js';
import { createCheckedLookup, type Lookup } from '../../wire/checked-lookup.js';
import { type AddressRules, createAddressCheck } from './address-check.js';

/** Why a URL that a user chose is not requested; the message continues its name. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

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
  return new Agent({ connect: { lookup: createCheckedLookup(isAllowed, refuse, lookup) }, connections: 1 });
}

/** Creates an agent for a server that the operator named. Plain http reaches only addresses that are not public. */
export async function createOperatorAgent({ protocol }: URL, resolve?: Lookup): Promise<Agent> {
  const { Agent } = await import('../../wire/undici.js');
  if (protocol === 'https:') return new Agent();
  const refuse = () => new AddressRefused('its address is public, so its URL must begin with https');
  return new Agent({
    connect: { lookup: createCheckedLookup((address) => !isPublicAddress(address), refuse, resolve) },
  });
}

/**
 * Refuses a literal address, which is not looked up, and names of this machine.
 * @throws AddressRefused
 */
export function refuseLiteral({ hostname }: URL, rules: AddressRules): void {
  const literal = isLoopbackHost(hostname) ? '127.0.0.1' : hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) && !createAddressCheck(rules)(literal)) throw refuse();
}

const refuse = () => new AddressRefused('its address is not public');
