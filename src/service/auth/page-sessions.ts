import { randomUUID } from 'node:crypto';
import type { Handlers, Write } from '../operation/call.js';
import { type Caller, OWNER_ID } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import { invalidField, Refused } from '../operation/refused.js';
import { MAX_TOKEN_SECONDS, signJwt, verifyJwt } from './tokens.js';

/** Audiences of the two tokens: one opens a session, once; the other is the session, in a cookie. */
const LINK = 'regen page link';
const SESSION = 'regen page';
const LINK_SECONDS = 60;

export const SESSION_COOKIE = 'regen_session';
export const SIGN_IN_PATH = '/web/sign-in';

type Signer = Pick<Context, 'keys' | 'now' | 'baseUrl'>;

/** Whether a text is the path of a page: of this service, and not of another one as `//host` is. */
export function isPagePath(path: string): boolean {
  return /^\/(?:\?|$|web\/)[^\\\s]*$/.test(path) && !path.startsWith(SIGN_IN_PATH);
}

// Decided: a page session ends with the credential that opened it, and after an hour. It may only read pages.
const openPage: Write<'user.openPage'> = async ({ caller, context, body }) => {
  if (!isPagePath(body.path)) throw invalidField('path', 'must be the path of a page, such as /web/tasks');
  const ends = caller.expiresAt === undefined ? undefined : Date.parse(caller.expiresAt) / 1000;
  const { userId, admin } = caller;
  const claims = { admin: admin && caller.kind !== 'api_key', to: body.path, ...(ends && { ends }) };
  const signed = { audience: LINK, subject: userId as string, jti: randomUUID(), claims };
  const code = await signJwt(context, { ...signed, expiresInSeconds: LINK_SECONDS });
  return {
    url: `${context.baseUrl()}${SIGN_IN_PATH}?code=${code}`,
    expires_at: new Date(context.now() + LINK_SECONDS * 1000).toISOString(),
  };
};

/**
 * Opens a session with the code of a link.
 * @returns the value of its cookie, and the page to show
 * @throws Refused invalid_signature if the code is not valid, or was used
 */
export async function openSession(
  context: Signer & Pick<Context, 'database'>,
  code: string,
): Promise<{ readonly session: string; readonly to: string; readonly seconds: number }> {
  const claims = await readClaims(context, code, LINK);
  const used = new Refused('invalid_signature', 'This link was used or has expired; run regen open again.');
  if (!claims) throw used;
  const { sub, jti, exp, admin, to, ends } = claims;
  const row = { id: jti, expires_at: new Date(exp * 1000).toISOString() };
  await context.database.transaction().execute(async (tx) => {
    const first = tx
      .insertInto('used_identities')
      .values(row)
      .onConflict((conflict) => conflict.doNothing());
    const { numInsertedOrUpdatedRows } = await first.executeTakeFirstOrThrow();
    if (Number(numInsertedOrUpdatedRows) !== 1) throw used;
  });
  const left = ends === undefined ? MAX_TOKEN_SECONDS : Math.floor(ends - context.now() / 1000);
  const seconds = Math.max(1, Math.min(MAX_TOKEN_SECONDS, left));
  const signed = { audience: SESSION, subject: sub, jti: randomUUID(), expiresInSeconds: seconds };
  return { session: await signJwt(context, { ...signed, claims: { admin } }), to: String(to), seconds };
}

/** @returns the caller of a session; undefined without one, or if it has ended */
export async function findSession(context: Signer, cookies: string | undefined): Promise<Caller | undefined> {
  const cookie = cookies?.split(';').find((one) => one.trim().startsWith(`${SESSION_COOKIE}=`));
  const claims =
    cookie && (await readClaims(context, cookie.trim().slice(SESSION_COOKIE.length + 1), SESSION));
  if (!claims) return undefined;
  const { sub: userId, admin, exp } = claims;
  const kind = userId === OWNER_ID ? 'owner' : 'service';
  return {
    kind,
    userId,
    admin: admin === true,
    expiresAt: new Date(exp * 1000).toISOString(),
    key: `user:${userId}`,
  };
}

interface Claims {
  readonly sub: string;
  readonly jti: string;
  readonly exp: number;
  readonly admin?: boolean;
  readonly to?: string;
  readonly ends?: number;
}

/** @returns undefined if the token is not valid */
async function readClaims(context: Signer, token: string, audience: string): Promise<Claims | undefined> {
  try {
    return (await verifyJwt(context, token, audience)) as unknown as Claims;
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

export const pageSessionHandlers = { 'user.openPage': { write: openPage } } satisfies Partial<Handlers>;
