import { z } from 'zod';
import { isLoopbackHost } from '../../contract/schema/loopback.js';

/** The URL of another service that the configuration trusts. */
export const SecureUrl = z.url({ abort: true }).refine(isSecureUrl, {
  error: 'must be an https URL (http only on loopback) without credentials, query or fragment',
});

function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
  return isSafe && !username && !password && !search && !hash;
}
