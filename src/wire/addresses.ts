import { BlockList, isIP } from 'node:net';

/** Where an address is. A client at a private one may not be at a shared or link-local one. */
export type AddressKind = 'public' | 'reserved' | 'link-local' | 'shared' | 'private' | 'loopback';

/** Ranges that no public service has. The unspecified addresses reach this machine too. */
const RANGES: Readonly<Record<Exclude<AddressKind, 'public'>, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '0.0.0.0/32', '::1/128', '::/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
  shared: ['100.64.0.0/10'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  reserved: [
    ...['0.0.0.0/8', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24'],
    ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
    // These embed IPv4 addresses or are reserved.
    ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
  ],
};
/** Only this part of IPv6 is public. */
const PUBLIC_IPV6 = '2000::/3';
/** Of networks without IPv4: an IPv4 address in IPv6 (RFC 6052). */
const NAT64 = '64:ff9b::';

const kinds = Object.entries(RANGES).map(
  ([kind, ranges]) => [kind as AddressKind, createBlockList(ranges)] as const,
);
const publicIpv6 = createBlockList([PUBLIC_IPV6]);
const nat64 = createBlockList([`${NAT64}/96`]);
const loopback = createBlockList(['127.0.0.0/8', '::1/128']);

export function createBlockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [net, prefix] = range.split('/') as [string, string];
    list.addSubnet(net, Number(prefix), getFamily(net));
    if (isIP(net) === 4) list.addSubnet(NAT64 + net, 96 + Number(prefix), 'ipv6');
  }
  return list;
}

export function getFamily(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** Classifies an IP address. What is embedded in IPv6 counts as the IPv4 address that it is, or as reserved. */
export function classifyAddress(address: string): AddressKind {
  const [bare = ''] = address.split('%');
  const family = getFamily(bare);
  const found = isIP(bare) === 0 ? ['reserved' as const] : kinds.find(([, list]) => list.check(bare, family));
  if (found) return found[0];
  const isPublic = family === 'ipv4' || publicIpv6.check(bare, family) || nat64.check(bare, family);
  return isPublic ? 'public' : 'reserved';
}

export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && loopback.check(address, getFamily(address));
}

/** Whether users may make the service send requests to an address. IPv4 in IPv6 is not public. */
export function isPublicAddress(address: string): boolean {
  return classifyAddress(address) === 'public' && !nat64.check(address, getFamily(address));
}

/**
 * The network of a client, for counting it once: an IPv4 address, or the /64 of an IPv6 address, which is what
 * one customer has.
 */
export function toClientNetwork(address: string): string {
  const [text = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1];
  if (mapped) return mapped;
  if (isIP(text) !== 6) return text;
  const [left = [], right = []] = text.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
