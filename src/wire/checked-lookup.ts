import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Resolves a name to all of its addresses, as Node's own `lookup` does. */
export type Lookup = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/**
 * Creates a resolver for connections that drops addresses. What was checked is what is connected to.
 * @param isAllowed called with each address of a name
 * @param toRefusal the error if no address of a name is allowed
 */
export function createCheckedLookup(
  isAllowed: (address: string, all: readonly string[]) => boolean,
  toRefusal: (hostname: string, addresses: readonly string[]) => Error,
  resolve: Lookup = systemLookup,
): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '', 0);
      const all = found.map(({ address }) => address);
      const usable = found.filter(({ address }) => isAllowed(address, all));
      const [first] = usable;
      if (!first) done(toRefusal(hostname, all), '', 0);
      else if (options.all) done(null, usable);
      else done(null, first.address, first.family);
    });
  };
}
