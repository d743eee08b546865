import { BlockList, isIP } from 'node:net';

/** Ranges that no public service has: private, shared, link-local, documentation, multicast and reserved. */
const reserved4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
];
/** Of IPv6 only 2000::/3 is public, and in it these lead elsewhere: to an IPv4 address within, or nowhere. */
const public6 = '2000::/3';
const reserved6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const privateAddresses = listOf([...reserved4, ...reserved6]);
const publicSixth = listOf([public6]);
const loopback = listOf(['127.0.0.0/8', '::1/128']);

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [net, prefix] = range.split('/') as [string, string];
    list.addSubnet(net, Number(prefix), family(net));
  }
  return list;
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

export function isLoopbackAddress(address: string): boolean {
  return isIP(address) !== 0 && loopback.check(address, family(address));
}

/** Whether the service may fetch from an address on somebody's behalf. An IPv4 address within IPv6 is not public. */
export function isPublicAddress(address: string): boolean {
  const kind = isIP(address);
  if (kind === 0 || isLoopbackAddress(address) || privateAddresses.check(address, family(address)))
    return false;
  return kind === 4 || publicSixth.check(address, 'ipv6');
}

/** Whether a host of a URL, a name or a literal, means this machine. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return host === 'localhost' || host.endsWith('.localhost') || isLoopbackAddress(host);
}
