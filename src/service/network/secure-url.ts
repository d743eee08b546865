import { z } from 'zod';
import { isLoopbackHost } from '../../contract/schema/loopback.js';

/** The URL of another service that the configuration trusts. */
export const SecureUrl = z.url({ abort: true }).refine(isSecureUrl, {
  error: 'must be an https URL (http only on loopback) without credentials, query or fragment',
});

/** The URL of a server, which answers, logs or other servers may show. */
export const ServerUrl = z.url({ abort: true }).refine(isServerUrl, {
  error: 'must be an http or https URL without a user name, password, query or fragment',
});

function isServerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && !username && !password && !search && !hash;
}

function isSecureUrl(text: string): boolean {
  return isServerUrl(text) && (new URL(text).protocol === 'https:' || isLoopbackHost(new URL(text).hostname));
}
