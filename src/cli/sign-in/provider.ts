import type { Configuration, CustomFetch } from 'openid-client';
import type { Client } from '../../client/client.js';
import { ClientError } from '../../client/errors.js';
import { MAX_TIMER_MS } from '../../wire/backoff.js';
import { readBody } from '../../wire/read-body.js';
import type { Connect } from '../connect/clients.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { findAddressProblem } from './discovery.js';

export type OpenId = typeof import('openid-client');

export interface Provider {
  readonly openId: OpenId;
  readonly issuer: string;
  readonly configuration: Configuration;
}

/** The timeout of each request to the provider; other commands may be waiting for this one. */
const TIMEOUT_SECONDS = 12;
const MAX_RESPONSE_BYTES = 1024 ** 2;
// Decided: an identity token comes directly from the issuer, so a clock may be off by several minutes.
const CLOCK_TOLERANCE_SECONDS = 15 * 60;

export async function openProvider(
  connect: Connect,
  { issuer, clientId }: { readonly issuer: string; readonly clientId: string },
): Promise<Provider> {
  const openId = await import('openid-client');
  const send = createFetch(connect, issuer);
  const configuration = await callIssuer(openId, issuer, () =>
    openId.discovery(
      new URL(issuer),
      clientId,
      { [openId.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      openId.None(),
      {
        timeout: TIMEOUT_SECONDS,
        [openId.customFetch]: send,
        // `send` checks whether each address may use plain http.
        execute: [openId.allowInsecureRequests],
      },
    ),
  );
  return { openId, issuer, configuration };
}

/** Creates a fetch function that uses the proxy, certificates and trace of the command. */
function createFetch(connect: Connect, issuer: string): CustomFetch {
  const clients = new Map<string, Promise<Client>>();
  return async (url, { method, headers, body, signal }) => {
    const { origin } = new URL(url);
    const problem = findAddressProblem(url, issuer);
    if (problem) throw new TypeError(`${origin} ${problem}`);
    const client = clients.get(origin) ?? connect(origin);
    clients.set(origin, client);
    const response = await (await client).raw({
      method,
      path: url,
      headers,
      body: body ? String(body) : undefined,
      retries: 1,
      timeoutMs: TIMEOUT_SECONDS * 1000,
      signal,
    });
    const text = (await readBody(response.body, MAX_RESPONSE_BYTES)).toString();
    return new Response([204, 304].includes(response.status) ? null : text, {
      status: response.status,
      headers: response.headers,
    });
  };
}

/**
 * Calls an identity provider, and explains its errors.
 * @throws Failure
 */
export async function callIssuer<Result>(
  openId: OpenId,
  issuer: string,
  call: () => Promise<Result>,
): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw explainIssuerError(openId, issuer, error);
  }
}

const TEMPORARY_ERRORS = ['temporarily_unavailable', 'server_error'];

/** An error response of the issuer. The code is that of OAuth, such as `invalid_grant`. */
export class IssuerError extends Failure {}

function explainIssuerError(openId: OpenId, issuer: string, error: unknown): unknown {
  const own = [error, (error as Error).cause].find(
    (one) => one instanceof ClientError || one instanceof Failure,
  );
  if (own) return own;
  if (error instanceof openId.ResponseBodyError || error instanceof openId.AuthorizationResponseError) {
    const why = error.error_description ?? error.error;
    const exit = TEMPORARY_ERRORS.includes(error.error) ? exitCodes.unreachable : exitCodes.notAllowed;
    return new IssuerError(`${issuer} refused: ${why}.`, { code: error.error, exit });
  }
  const { message, cause, name } = error as Error;
  if (name === 'AbortError' || name === 'TimeoutError') return error;
  const why = cause instanceof Error ? cause.message : message;
  return new Failure(`${issuer} did not respond like an identity provider: ${why}.`, {
    code: 'issuer_unusable',
    hint: 'Try again later. If this persists, contact the service operator.',
  });
}

/**
 * Waits for the user to sign in, until the timeout or an interruption.
 * @throws Failure after the timeout
 */
export async function waitForUser<Result>(
  ms: number,
  signal: AbortSignal,
  wait: (either: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = AbortSignal.timeout(Math.min(ms, MAX_TIMER_MS));
  try {
    return await wait(AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error;
    throw new Failure(`The sign-in timed out after ${Math.ceil(ms / 60_000)} minutes.`, {
      code: 'sign_in_timeout',
      hint: 'Run the command again to retry.',
    });
  }
}
