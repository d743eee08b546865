import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { onTestFinished } from 'vitest';
import { openInBrowser } from './open-in-browser.js';

/** A person as the issuer knows them; all but `sub` are claims of their tokens. */
/** `undefined` leaves a claim out. */
type Claims = { readonly [Name in keyof JWTPayload]: JWTPayload[Name] | undefined };

export interface Person {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/**
 * A real OpenID Connect issuer on a free port of loopback. It shows no forms: the user of a browser
 * (`browse` of browser.ts) is `person` and agrees to everything, in the browser flow (PKCE) and in the device
 * flow. Access tokens are JWTs for the requested `resource`; refresh tokens are rotated.
 */
export interface TestIssuer {
  /** Its name, and where it is. */
  readonly url: string;
  /** The one client: public, native, on any port of 127.0.0.1 with the path `/` or `/callback`. */
  readonly clientId: string;
  /** Who signs in next. */
  person: Person;
  /** The audience of access tokens, if not the resource they were asked for. */
  audience?: string;
  /** Seconds that an access token is good for from now on. */
  tokenSeconds: number;
  /** The paths asked for so far, oldest first. */
  readonly asked: string[];
  /** Answers in the issuer's place where it returns true. */
  instead?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Signs in through the browser flow. @returns an access token for the resource */
  signIn(person: Person, resource: string): Promise<string>;
  /** Signs any claims with the newest key, as an access token; iss, iat and an hour to exp are there unless given. */
  sign(claims: Claims, header?: { readonly typ?: string }): Promise<string>;
  /** Puts a new signing key in the place of the old one. */
  rotate(): Promise<void>;
  stop(): Promise<void>;
}

/** An issuer that stops at the end of the test that asks for it. */
export async function issuerForTest(): Promise<TestIssuer> {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.stop());
  return issuer;
}

export async function startIssuer(): Promise<TestIssuer> {
  const server = createServer((request, response) => answerRequest(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let key = await createKey();
  const issuer: TestIssuer = {
    url,
    clientId: 'regen-cli',
    person: createPerson('ann'),
    tokenSeconds: 3600,
    asked: [],
    signIn: (person, resource) => signIn(issuer, person, resource),
    sign: (claims, header = { typ: 'at+jwt' }) => signToken(url, key, claims, header),
    rotate: async () => {
      key = await createKey();
      provider = createProvider(issuer, key);
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  let provider = createProvider(issuer, key);
  return issuer;

  function answerRequest(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url as string).split('?')[0] as string;
    issuer.asked.push(path);
    if (issuer.instead?.(request, response)) return;
    if (path.startsWith('/interaction/')) {
      grantAccess(issuer, provider, request, response).catch((error) =>
        response.writeHead(500).end(`${error}`),
      );
    } else provider.callback()(request, response);
  }
}

/** A person whose address is verified and who has no roles, unless said otherwise. */
export function createPerson(sub: string, claims: object = {}): Person {
  return { sub, name: sub, email: `${sub}@example.org`, email_verified: true, roles: [], ...claims };
}

async function createKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomUUID(), alg: 'ES256', use: 'sig' };
}

async function signToken(
  issuer: string,
  key: JWK,
  claims: Claims,
  header: { readonly typ?: string },
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ iss: issuer, iat: now, exp: now + 3600, ...claims } as JWTPayload)
    .setProtectedHeader({ alg: 'ES256', kid: key.kid as string, ...header })
    .sign(await importJWK(key));
}

/** How long unused sessions and codes are kept. Seconds. */
function lastOneDay(names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, 86_400]));
}

const scopes = 'openid email profile offline_access';

function createProvider(issuer: TestIssuer, key: JWK): Provider {
  const people = new Map<string, Person>();
  const resources = {
    enabled: true,
    useGrantedResource: () => true,
    getResourceServerInfo: (_: unknown, resource: string) => ({
      ...{ audience: issuer.audience ?? resource, scope: '', accessTokenFormat: 'jwt' },
      jwt: { sign: { alg: 'ES256' } },
    }),
  };
  return new Provider(issuer.url, {
    jwks: { keys: [key] },
    cookies: { keys: ['of no worth'] },
    clients: [
      {
        client_id: issuer.clientId,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        response_types: ['code'],
        redirect_uris: ['http://127.0.0.1/', 'http://127.0.0.1/callback'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    scopes: scopes.split(' '),
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => people.get(sub) ?? createPerson(sub),
    }),
    extraTokenClaims: (_: unknown, { accountId }: { accountId: string }) => {
      if (issuer.person.sub === accountId) people.set(accountId, issuer.person);
      const { sub: _sub, ...claims } = people.get(accountId) ?? createPerson(accountId);
      return claims;
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: () => true,
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: setPage,
        userCodeConfirmSource: setPage,
        successSource: (context: { body: string }) => setPage(context, '<p>You are signed in.</p>'),
      },
      revocation: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: resources,
    },
    renderError: (context: { body: string }, out: object) =>
      setPage(context, `<p>${JSON.stringify(out)}</p>`),
    ttl: {
      AccessToken: () => issuer.tokenSeconds,
      ...lastOneDay(['RefreshToken', 'Session', 'Grant', 'Interaction', 'IdToken', 'DeviceCode']),
    },
  });
}

function setPage(context: { body: string }, form: string): void {
  context.body = `<!DOCTYPE html><html><body>${form}</body></html>`;
}

/** The page where a person would sign in and agree. */
async function grantAccess(
  { person }: TestIssuer,
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId: person.sub, clientId: params.client_id as string });
  grant.addOIDCScope(scopes);
  for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(resource, '');
  const grantId = await grant.save();
  await provider.interactionFinished(request, response, {
    login: { accountId: person.sub },
    consent: { grantId },
  });
}

async function signIn(issuer: TestIssuer, person: Person, resource: string): Promise<string> {
  issuer.person = person;
  const verifier = randomBytes(32).toString('base64url');
  const callback = createServer((_, response) => response.end('Done.'));
  await new Promise<void>((done) => callback.listen(0, '127.0.0.1', done));
  const redirect_uri = `http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback`;
  const asked = { client_id: issuer.clientId, redirect_uri, resource };
  const query = new URLSearchParams({
    ...asked,
    response_type: 'code',
    scope: 'openid',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const { url: end, text } = await openInBrowser(`${issuer.url}/auth?${query}`);
  callback.close();
  const code = new URL(end).searchParams.get('code');
  if (!code) throw new Error(`${end} has no code: ${text}`);
  const answer = await fetch(`${issuer.url}/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...asked, grant_type: 'authorization_code', code, code_verifier: verifier }),
  });
  const { access_token } = (await answer.json()) as { access_token?: string };
  if (!access_token) throw new Error(`The issuer gave no token: ${answer.status}`);
  return access_token;
}
