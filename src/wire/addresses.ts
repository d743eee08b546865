import { BlockList, isIP } from 'node:net';

/** Ranges that no public service has: private, shared, link-local, documentation, multicast and reserved. */
const RESERVED_IPV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
];
/** Only 2000::/3 of IPv6 is public, except these ranges in it, which embed IPv4 addresses or are reserved. */
const PUBLIC_IPV6 = '2000::/3';
const RESERVED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const privateAddresses = createBlockList([...RESERVED_IPV4, ...RESERVED_IPV6]);
const publicIpv6 = createBlockList([PUBLIC_IPV6]);
const loopback = createBlockList(['127.0.0.0/8', '::1/128']);

export function createBlockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [net, prefix] = range.split('/') as [string, string];
    list.addSubnet(net, Number(prefix), getFamily(net));
  }
  return list;
}

export function getFamily(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && loopback.check(address, getFamily(address));
}

/** Whether users may make the service send requests to an address. IPv4 in IPv6 is not public. */
export function isPublicAddress(address: string): boolean {
  const kind = isIP(address);
  if (kind === 0 || isLoopbackAddress(address) || privateAddresses.check(address, getFamily(address)))
    return false;
  return kind === 4 || publicIpv6.check(address, 'ipv6');
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
