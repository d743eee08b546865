import { z } from 'zod';
import { isLoopbackHost } from './generation/addresses.js';

/** The address of another service that a configuration trusts. */
export const SecureUrl = z.url().refine(isSecure, {
  error: 'must be an https URL (http on loopback alone) without credentials, query or fragment',
});

function isSecure(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
  return isSafe && !username && !password && !search && !hash;
}
