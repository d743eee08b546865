import { isIP } from 'node:net';
import { createBlockList, getFamily, isLoopbackAddress, isPublicAddress } from '../../wire/addresses.js';

/** Of this machine, its link and its cloud's metadata. An allowed network does not include them unless it is one of them. */
const NAMED_ONLY = createBlockList([
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '100.100.100.200/32', '192.0.0.192/32'],
  ...['224.0.0.0/4', '240.0.0.0/4', '::/96', '64:ff9b::/96', 'fe80::/10', 'ff00::/8'],
  ...['fd00:ec2::254/128', 'fd20:ce::254/128'],
]);

/** Which addresses that are not public users may make the service request. */
export interface AddressRules {
  readonly loopbackAllowed: boolean;
  /** Addresses and networks such as 10.0.0.0/8. */
  readonly allowedNetworks?: readonly string[] | undefined;
}

export function createAddressCheck({
  loopbackAllowed,
  allowedNetworks = [],
}: AddressRules): (address: string) => boolean {
  const ranges = allowedNetworks.map((network) =>
    network.includes('/') ? network : `${network}/${toBits(network)}`,
  );
  const networks = createBlockList(ranges);
  const named = createBlockList(ranges.filter((range) => range.endsWith(`/${toBits(range.split('/')[0])}`)));
  return (address) => {
    if (isPublicAddress(address) || (loopbackAllowed && isLoopbackAddress(address))) return true;
    if (isIP(address) === 0) return false;
    const family = getFamily(address);
    return (NAMED_ONLY.check(address, family) ? named : networks).check(address, family);
  };
}

const toBits = (address = '') => (isIP(address) === 6 ? 128 : 32);
