import { isIP } from 'node:net';
import { z } from 'zod';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { isPublicAddress } from '../../wire/addresses.js';

const Url = z.url({
  abort: true,
  protocol: /^https?$/,
  error: ({ code }) => (code === 'invalid_format' ? 'must begin with http:// or https://' : undefined),
});

/** The URL of another service that the configuration trusts. */
export const SecureUrl = Url.refine(isSecureUrl, {
  error: 'must be an https URL (http only on loopback) without credentials, query or fragment',
});

/** The URL of an engine that the operator names, which may be a machine of the same network. */
export const EngineUrl = Url.refine(isEngineUrl, {
  error:
    'must be an https URL (http only on loopback and for private addresses) without credentials, query or fragment',
});

/** The URL of a server, which answers, logs or other servers may show. */
export const ServerUrl = Url.refine(isServerUrl, {
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

function isEngineUrl(text: string): boolean {
  return isSecureUrl(text) || (isServerUrl(text) && isPrivateHost(new URL(text).hostname));
}

/** Names that no public server has. What they resolve to is checked again at each connection. */
const PRIVATE_NAME = /^[^.]+$|\.(?:local|lan|internal|home\.arpa)$/i;

function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? PRIVATE_NAME.test(host) : !isPublicAddress(host);
}
