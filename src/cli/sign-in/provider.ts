import type { Configuration, CustomFetch } from 'openid-client';
import type { Client } from '../../client/client.js';
import { ClientError } from '../../client/errors.js';
import { readBody } from '../../wire/read-body.js';
import type { Connect } from '../connect/clients.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { mayBeAsked } from './discovery.js';

export type OpenId = typeof import('openid-client');

/** An identity provider whose endpoints are known. */
export interface Provider {
  readonly openId: OpenId;
  readonly issuer: string;
  readonly configuration: Configuration;
}

/** How long one of its answers may take; other commands may be waiting for this one. */
const answerSeconds = 12;
const mostBytes = 1024 ** 2;
// Decided: an identity token comes straight from the issuer, so a clock that is off by minutes keeps nobody out.
const clockToleranceSeconds = 15 * 60;

/** Reads what an identity provider says of itself. */
export async function openProvider(
  connect: Connect,
  { issuer, clientId }: { readonly issuer: string; readonly clientId: string },
): Promise<Provider> {
  const openId = await import('openid-client');
  const send = createFetch(connect);
  const configuration = await askingIssuer(openId, issuer, () =>
    openId.discovery(
      new URL(issuer),
      clientId,
      { [openId.clockTolerance]: clockToleranceSeconds },
      openId.None(),
      {
        timeout: answerSeconds,
        [openId.customFetch]: send,
        // Which addresses may be plain http, `send` decides one by one.
        execute: [openId.allowInsecureRequests],
      },
    ),
  );
  return { openId, issuer, configuration };
}

/** Asks through the command's own connections: its proxy, its certificates, its trace. */
function createFetch(connect: Connect): CustomFetch {
  const clients = new Map<string, Promise<Client>>();
  return async (url, { method, headers, body, signal }) => {
    const { origin } = new URL(url);
    if (!mayBeAsked(url)) throw new TypeError(`${origin} is asked over https alone`);
    const client = clients.get(origin) ?? connect(origin);
    clients.set(origin, client);
    const answer = await (await client).raw({
      method,
      path: url,
      headers,
      body: body ? String(body) : undefined,
      retries: 1,
      timeoutMs: answerSeconds * 1000,
      signal,
    });
    const text = (await readBody(answer.body, mostBytes)).toString();
    return new Response([204, 304].includes(answer.status) ? null : text, {
      status: answer.status,
      headers: answer.headers,
    });
  };
}

/**
 * Does what asks an identity provider, and says in words what it refuses.
 * @throws Failure
 */
export async function askingIssuer<Result>(
  openId: OpenId,
  issuer: string,
  ask: () => Promise<Result>,
): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    throw inWords(openId, issuer, error);
  }
}

const passing = ['temporarily_unavailable', 'server_error'];

/** An issuer's refusal: `code` is the one of OAuth, such as `invalid_grant`. */
export class Refusal extends Failure {}

function inWords(openId: OpenId, issuer: string, error: unknown): unknown {
  const own = [error, (error as Error).cause].find(
    (one) => one instanceof ClientError || one instanceof Failure,
  );
  if (own) return own;
  if (error instanceof openId.ResponseBodyError || error instanceof openId.AuthorizationResponseError) {
    const why = error.error_description ?? error.error;
    const exit = passing.includes(error.error) ? exitCodes.unreachable : exitCodes.notAllowed;
    return new Refusal(`${issuer} refused: ${why}.`, { code: error.error, exit });
  }
  const { message, cause, name } = error as Error;
  if (name === 'AbortError' || name === 'TimeoutError') return error;
  const why = cause instanceof Error ? cause.message : message;
  return new Failure(`${issuer} does not answer as an identity provider does: ${why}.`, {
    code: 'issuer_unusable',
    exit: exitCodes.unreachable,
    hint: 'Try again in a while; if it stays so, tell the people of the service.',
  });
}
