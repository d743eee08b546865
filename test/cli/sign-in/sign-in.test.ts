import { EventEmitter } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findAddressProblem } from '../../../src/cli/sign-in/discovery.js';
import { waitForUser } from '../../../src/cli/sign-in/provider.js';
import { homeForTest, type Ran, regen, type Surroundings, startRegen } from '../../support/cli.js';
import { createPerson, issuerForTest, type TestIssuer } from '../../support/issuer.js';
import { listenOn } from '../../support/listen.js';
import { openInBrowser } from '../../support/open-in-browser.js';
import { serviceForTest } from '../../support/service.js';

interface Place {
  readonly issuer: TestIssuer;
  readonly url: string;
  readonly home: string;
  /** A command line of somebody who has no credential but those that the command line keeps. */
  run(argv: readonly string[], more?: Surroundings): Promise<Ran>;
}

/** A service whose people sign in at a real issuer, and a HOME in front of it. */
async function createPlace(): Promise<Place> {
  const issuer = await issuerForTest();
  const service = await serviceForTest({
    issuers: [
      {
        issuer: issuer.url,
        clientId: issuer.clientId,
        scopes: ['openid', 'profile', 'email', 'offline_access'],
      },
    ],
  });
  const home = homeForTest();
  const run: Place['run'] = (argv, more = {}) =>
    regen(argv, { home, ...more, env: { REGEN_BASE_URL: service.url, ...more.env } });
  return { issuer, url: service.url, home, run };
}

/** A person who opens the address that stands on stderr. */
function createVisitor(
  pattern: RegExp,
  visit: (url: string) => unknown = openInBrowser,
): (text: string) => void {
  let gone = false;
  return (text) => {
    const [url] = pattern.exec(text) ?? [];
    if (!url || gone) return;
    gone = true;
    visit(url);
  };
}

const withBrowser = () => ({ env: { BROWSER: 'true' }, onSaid: createVisitor(/http:\S+\/auth\?\S+/) });

function readSignIn(home: string) {
  const folder = join(home, '.config', 'regen', 'credentials');
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const path = join(folder, file as string);
  return { path, ...JSON.parse(readFileSync(path, 'utf8')) };
}

const countRequests = (issuer: TestIssuer, path: string) => issuer.asked.filter((one) => one === path).length;

test('signs in with a browser, and every command is that person from then on', async () => {
  const { issuer, url, home, run } = await createPlace();
  issuer.person = createPerson('zoe', { roles: ['admin'] });
  let shown = '';
  const onSaid = createVisitor(/http:\S+\/auth\?\S+/, async (address) => {
    shown = (await openInBrowser(address)).text;
  });
  const login = await run(['auth', 'login'], { ...withBrowser(), onSaid });
  expect(login, login.stderr).toMatchObject({ exit: 0, stdout: '' });
  expect(login.stderr).toContain(`Signed in as zoe@example.org (${url}).`);
  await expect.poll(() => shown).toContain('You are signed in');
  const { path, sign_in } = readSignIn(home);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(sign_in).toMatchObject({ issuer: issuer.url, client_id: 'regen-cli', resource: url });
  expect(login.stderr).not.toContain(sign_in.access_token);
  const status = await run(['auth', 'status', '--json']);
  expect(JSON.parse(status.stdout)).toMatchObject({
    ...{ service: url, source: path, issuer: issuer.url, renewed: true, email: 'zoe@example.org' },
    credential: { kind: 'identity_provider', expires_at: expect.any(String) },
  });
  expect((await run(['auth', 'token'])).stdout.trim()).toBe(sign_in.access_token);
  expect((await run(['admin', 'audit'])).exit).toBe(0);
});

test('no other program can answer instead of the browser', async () => {
  const { run } = await createPlace();
  const answers: number[] = [];
  let again: Promise<unknown> | undefined;
  const onSaid = createVisitor(/http:\S+\/auth\?\S+/, async (address) => {
    const asked = new URL(address).searchParams;
    const back = asked.get('redirect_uri') as string;
    const port = new URL(back).port;
    const state = encodeURIComponent(asked.get('state') as string);
    for (const [path, host] of [
      ['/callback?code=x&state=guessed', `127.0.0.1:${port}`],
      [`/other?code=x&state=${state}`, `127.0.0.1:${port}`],
      [`/callback?code=x&state=${state}`, `evil.example:${port}`],
    ] as const) {
      answers.push(await readStatus(port, path, host));
    }
    await openInBrowser(address);
    again = fetch(`${back}?code=x&state=${state}`).catch((error) => error.message);
  });
  const login = await run(['auth', 'login'], { ...withBrowser(), onSaid });
  expect(login.exit, login.stderr).toBe(0);
  expect(answers).toEqual([404, 404, 404]);
  expect(await again).toBe('fetch failed');
});

async function readStatus(port: string, path: string, host: string): Promise<number> {
  const { request } = await import('node:http');
  return new Promise((done) => {
    request({ port, path, host: '127.0.0.1', headers: { host } }, (answer) => {
      answer.resume();
      done(answer.statusCode as number);
    }).end();
  });
}

test('signing in without a browser shows a code for another device', async () => {
  const { issuer, run } = await createPlace();
  // The usual pause between two questions is 5 s.
  issuer.instead = (request, response) => {
    if (request.url !== '/device/auth' || request.headers['x-inner']) return false;
    const parts: Buffer[] = [];
    request
      .on('data', (part) => parts.push(part))
      .on('end', async () => {
        const headers = { 'content-type': request.headers['content-type'] as string, 'x-inner': '1' };
        const body = Buffer.concat(parts);
        const answer = await fetch(`${issuer.url}/device/auth`, { method: 'POST', headers, body });
        const text = JSON.stringify({ ...((await answer.json()) as object), interval: 0.2 });
        response.writeHead(200, { 'content-type': 'application/json' }).end(text);
      });
    return true;
  };
  issuer.person = createPerson('dev');
  const onSaid = createVisitor(/http:\S+\/device\?user_code=\S+/);
  const login = await run(['auth', 'login'], { env: { SSH_CONNECTION: 'x', DISPLAY: ':0' }, onSaid });
  expect(login.exit, login.stderr).toBe(0);
  expect(login.stderr).toMatch(/enter the code [A-Z]{4}-[A-Z]{4}\n/);
  expect(login.stderr).toMatch(/^Sign in with a browser on any device, within \d+ (?:min|h):\n/m);
  expect(JSON.parse((await run(['auth', 'status', '--json'])).stdout).email).toBe('dev@example.org');
});

test('20 concurrent commands renew an expired sign-in once, and all succeed', async () => {
  const { issuer, url, home, run } = await createPlace();
  issuer.tokenSeconds = 5;
  expect((await run(['auth', 'login'], withBrowser())).exit).toBe(0);
  const before = readSignIn(home).sign_in;
  issuer.tokenSeconds = 3600;
  issuer.asked.length = 0;
  const env = { REGEN_BASE_URL: url };
  const ran = await Promise.all(
    Array.from({ length: 20 }, () => startRegen(['auth', 'token'], { home, env }).ended),
  );
  const after = readSignIn(home).sign_in;
  expect(ran.map(({ exit, stdout, stderr }) => ({ exit, token: stdout.trim(), stderr }))).toEqual(
    Array(20).fill({ exit: 0, token: after.access_token, stderr: '' }),
  );
  expect(after.refresh_token).not.toBe(before.refresh_token);
  expect(countRequests(issuer, '/token')).toBe(1);
  expect((await run(['auth', 'status'])).exit).toBe(0);
});

test('a sign-in that the service refuses is renewed once, and the request repeated', async () => {
  const { issuer, home, run } = await createPlace();
  expect((await run(['auth', 'login'], withBrowser())).exit).toBe(0);
  const { path, sign_in } = readSignIn(home);
  const text = readFileSync(path, 'utf8');
  const foreign = await issuer.sign({ sub: 'ann', aud: 'https://elsewhere.example' });
  writeFileSync(path, text.replace(sign_in.access_token, foreign));
  issuer.asked.length = 0;
  expect((await run(['publisher', 'create', 'acme', '--name', 'Acme'])).exit).toBe(0);
  expect(countRequests(issuer, '/token')).toBe(1);
  expect((await run(['publisher', 'list'])).stdout).toContain('acme');
  expect(countRequests(issuer, '/token')).toBe(1);
});

test('signing out revokes the sign-in at the issuer and removes it', async () => {
  const { issuer, home, run } = await createPlace();
  expect((await run(['auth', 'login'], withBrowser())).exit).toBe(0);
  const { path, sign_in } = readSignIn(home);
  const logout = await run(['auth', 'logout']);
  expect(logout.exit).toBe(0);
  expect(logout.stderr).toContain(`Signed out at ${issuer.url}`);
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: sign_in.refresh_token,
    client_id: 'regen-cli',
  });
  expect((await fetch(`${issuer.url}/token`, { method: 'POST', body })).status).toBe(400);
  expect(readFileSync(path, 'utf8')).not.toContain('token');
  expect((await run(['auth', 'status'])).exit).toBe(4);
});

test('signing out forgets even where the issuer cannot be reached', async () => {
  const { issuer, run } = await createPlace();
  expect((await run(['auth', 'login'], withBrowser())).exit).toBe(0);
  await issuer.stop();
  const logout = await run(['auth', 'logout']);
  expect(logout.exit).toBe(0);
  expect(logout.stderr).toContain('Could not sign out at');
  expect((await run(['auth', 'status'])).exit).toBe(4);
});

test('a revoked sign-in ends with 4 and says how to sign in again', async () => {
  const { issuer, home, run } = await createPlace();
  issuer.tokenSeconds = 5;
  expect((await run(['auth', 'login'], withBrowser())).exit).toBe(0);
  const { refresh_token } = readSignIn(home).sign_in;
  const body = new URLSearchParams({ token: refresh_token, client_id: 'regen-cli' });
  await fetch(`${issuer.url}/token/revocation`, { method: 'POST', body });
  const later = { now: () => Date.now() + 60_000, sleep: async () => {} };
  const status = await run(['auth', 'status'], { clock: later });
  expect(status).toMatchObject({ exit: 4, stdout: '' });
  expect(status.stderr).toContain('regen auth login');
});

test('a token that still works is used while the issuer cannot be reached', async () => {
  const { issuer, run } = await createPlace();
  issuer.tokenSeconds = 20;
  expect((await run(['auth', 'login'], withBrowser())).exit).toBe(0);
  await issuer.stop();
  expect((await run(['auth', 'token'])).exit).toBe(0);
  const later = { now: () => Date.now() + 60_000, sleep: async () => {} };
  expect((await run(['auth', 'token'], { clock: later })).exit).toBe(7);
});

test('two services are signed in side by side', async () => {
  const one = await createPlace();
  const other = await createPlace();
  one.issuer.person = createPerson('uno');
  other.issuer.person = createPerson('dos');
  const at = { home: one.home };
  await one.run(['auth', 'login'], withBrowser());
  await other.run(['auth', 'login'], {
    ...at,
    ...withBrowser(),
    onSaid: createVisitor(/http:\S+\/auth\?\S+/),
  });
  const emails = [one, other].map(async ({ run }) => {
    const { stdout } = await run(['auth', 'status', '--json'], at);
    return JSON.parse(stdout).email;
  });
  expect(await Promise.all(emails)).toEqual(['uno@example.org', 'dos@example.org']);
});

test('a sign-in that is refused or abandoned stores nothing', async () => {
  const { home, run } = await createPlace();
  const refuse = createVisitor(/http:\S+\/auth\?\S+/, (address) => {
    const asked = new URL(address).searchParams;
    const iss = new URL(address).origin;
    const query = new URLSearchParams({ error: 'access_denied', state: asked.get('state') as string, iss });
    return fetch(`${asked.get('redirect_uri')}?${query}`);
  });
  const refused = await run(['auth', 'login'], { ...withBrowser(), onSaid: refuse });
  expect(refused.exit).toBe(4);
  expect(refused.stderr).toContain('access_denied');

  const signals = new EventEmitter();
  const giveUp = createVisitor(/http:\S+\/auth\?\S+/, () => signals.emit('SIGINT', 'SIGINT'));
  expect((await run(['auth', 'login'], { ...withBrowser(), signals, onSaid: giveUp })).exit).toBe(130);
  expect(existsSync(join(home, '.config', 'regen', 'credentials'))).toBe(false);
});

test('signing in to a service without an issuer shows how to use a token', async () => {
  const service = await serviceForTest();
  const { exit, stderr } = await regen(['auth', 'login'], { env: { REGEN_BASE_URL: service.url } });
  expect(exit).toBe(2);
  expect(stderr).toContain('does not support sign-in with a browser');
  expect(stderr).toContain('--with-token');
});

test.each([
  ['in a job', ['auth', 'login'], { CI: '1' }],
  ['without questions', ['auth', 'login', '--no-input'], {}],
])('a sign-in %s does not wait for a person', async (_, argv, env) => {
  const { run } = await createPlace();
  const { exit, stderr } = await run(argv, { env });
  expect(exit).toBe(2);
  expect(stderr).toContain('REGEN_TOKEN');
});

test('the embedded service needs no sign-in', async () => {
  const { exit, stderr } = await regen(['auth', 'login']);
  expect(exit).toBe(0);
  expect(stderr).toContain('needs no sign-in');
});

test('a service that calls itself another one is not signed in to', async () => {
  const issuer = await issuerForTest();
  const { localUrl } = await serviceForTest({
    publicUrl: 'https://bank.example',
    issuers: [{ issuer: issuer.url, clientId: issuer.clientId }],
  });
  const { exit, stderr } = await regen(['auth', 'login'], { env: { REGEN_BASE_URL: localUrl } });
  expect(exit).toBe(2);
  expect(stderr).toContain('identifies itself as https://bank.example');
  expect(issuer.asked.filter((path) => !path.startsWith('/.well-known'))).toEqual([]);
});

test('a sign-in may be allowed more time than a timer can have', async () => {
  const { signal } = new AbortController();
  expect(await waitForUser(2 ** 40, signal, async ({ aborted }) => aborted)).toBe(false);
});

test.each([
  ['http://127.0.0.1:9', 'http://registry.example', false],
  ['https://localhost', 'https://registry.example', false],
  ['https://localhost.', 'https://registry.example', false],
  ['https://10.0.0.1', 'https://registry.example', false],
  ['https://[::ffff:10.0.0.1]', 'https://registry.example', false],
  ['http://127.0.0.1:9', 'https://10.0.0.1', false],
  ['http://issuer.example', 'http://127.0.0.1:9', false],
  ['file:///etc/passwd', 'http://127.0.0.1:9', false],
  ['https://10.0.0.1', 'https://10.0.0.2', true],
  ['https://10.0.0.1', 'http://localhost:9', true],
  ['http://127.0.0.1:9', 'http://[::1]:9', true],
  ['https://issuer.example', 'https://registry.example', true],
])('%s named by %s as an identity provider is accepted: %s', (issuer, service, accepted) => {
  expect(findAddressProblem(issuer, service) === undefined).toBe(accepted);
});

test('a service elsewhere cannot make sign-in send requests to this machine', async () => {
  const issuer = await issuerForTest();
  const proxy = await listenOn((_, response) =>
    response.end(
      JSON.stringify({
        resource: 'http://registry.example',
        authorization_servers: [issuer.url],
        bearer_methods_supported: ['header'],
        regen_client_id: issuer.clientId,
      }),
    ),
  );
  onTestFinished(proxy.close);
  const env = { REGEN_BASE_URL: 'http://registry.example', HTTP_PROXY: proxy.url };
  const { exit, stderr } = await regen(['auth', 'login'], { env });
  expect(exit).toBe(2);
  expect(stderr).toContain(
    `${issuer.url} is on this machine or in a private network, and http://registry.example is not`,
  );
  expect(issuer.asked).toEqual([]);
});

test('a token of the issuer for another service is neither sent nor kept', async () => {
  const { issuer, url, home, run } = await createPlace();
  issuer.audience = 'https://registry.example.com';
  const login = await run(['auth', 'login'], withBrowser());
  expect(login).toMatchObject({ exit: 4, stdout: '' });
  expect(login.stderr).toContain(`is for https://registry.example.com instead of ${url}; it was not sent.`);
  expect(existsSync(join(home, '.config', 'regen', 'credentials'))).toBe(false);
});

/** A service of others that names an issuer, and what it was sent as credentials. */
async function serviceNaming(named: { issuer: string; clientId: string; scopes?: readonly string[] }) {
  const seen: string[] = [];
  const { url, close } = await listenOn((request, response) => {
    if (request.headers.authorization) seen.push(request.headers.authorization);
    const metadata = {
      resource: url,
      authorization_servers: [named.issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: named.scopes ?? ['openid', 'offline_access'],
      regen_client_id: named.clientId,
    };
    const isMetadata = request.url?.includes('oauth-protected-resource');
    const me = { id: 'ann', admin: false, publishers: [], credential: { kind: 'identity_provider' } };
    const body = isMetadata ? metadata : me;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  onTestFinished(close);
  return { url, seen };
}

/** Lets the issuer give out this access token in place of its own. */
function issueInstead(issuer: TestIssuer, create: (resource: string) => string | Promise<string>): void {
  issuer.instead = (request, response) => {
    if (request.url !== '/token' || request.headers['x-inner']) return false;
    const parts: Buffer[] = [];
    request
      .on('data', (part) => parts.push(part))
      .on('end', async () => {
        const headers = { 'content-type': request.headers['content-type'] as string, 'x-inner': '1' };
        const body = Buffer.concat(parts);
        const answer = await fetch(`${issuer.url}/token`, { method: 'POST', headers, body });
        const resource = new URLSearchParams(body.toString()).get('resource') as string;
        const tokens = { ...((await answer.json()) as object), access_token: await create(resource) };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens));
      });
    return true;
  };
}

test.each([
  ['other services', ['https://registry.example.com']],
  ['an account at the issuer, by name', ['account']],
  ['a service whose address begins like the issuer', ['ISSUER.example']],
  ['a text that a shell would run', ['$(id>owned)']],
])('a token that is also for %s is neither sent nor kept', async (_, others) => {
  const issuer = await issuerForTest();
  const service = await serviceNaming({ issuer: issuer.url, clientId: issuer.clientId });
  const named = others.map((one) => one.replace('ISSUER', issuer.url));
  issueInstead(issuer, (resource) => issuer.sign({ sub: 'ann', aud: [resource, ...named] }));
  const home = homeForTest();
  const surroundings = { home, env: { REGEN_BASE_URL: service.url, BROWSER: 'true' } };
  const login = await regen(['auth', 'login'], { ...surroundings, onSaid: withBrowser().onSaid });
  expect(login.stderr).toContain(`is also for ${named.join(', ')}; it was not sent.`);
  // One word, which can be copied into a shell.
  expect(login.stderr).toMatch(/pass --audience '[^']+'\.\n/);
  expect([login.exit, service.seen]).toEqual([4, []]);
  const both = ['auth', 'login', '--audience', [service.url, ...named].join(' ')];
  expect((await regen(both, { ...surroundings, onSaid: withBrowser().onSaid })).exit).toBe(0);
});

test('a token may also be for addresses of its issuer', async () => {
  const issuer = await issuerForTest();
  const service = await serviceNaming({ issuer: issuer.url, clientId: issuer.clientId });
  issueInstead(issuer, (resource) =>
    issuer.sign({ sub: 'ann', aud: [`${resource}/`, `${issuer.url}/userinfo`, issuer.url] }),
  );
  const env = { REGEN_BASE_URL: service.url, BROWSER: 'true' };
  const login = await regen(['auth', 'login'], { env, onSaid: withBrowser().onSaid });
  expect(login.exit, login.stderr).toBe(0);
});

const unreadable: readonly (readonly [string, (issuer: TestIssuer) => Promise<string>])[] = [
  ['is opaque', async () => 'b3BhcXVl-1234'],
  ['is encrypted', async () => 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..aaaa.bbbb.cccc'],
  ['has no audience', (issuer) => issuer.sign({ sub: 'ann' })],
  ['has an empty list of audiences', (issuer) => issuer.sign({ sub: 'ann', aud: [] })],
];

test.each(unreadable)('a token that %s is sent only once the user agrees', async (_, create) => {
  const issuer = await issuerForTest();
  const named = { issuer: issuer.url, clientId: issuer.clientId, scopes: ['openid', 'offline_access'] };
  const service = await serviceNaming(named);
  issueInstead(issuer, () => create(issuer));
  const home = homeForTest();
  const login = (flags: readonly string[] = [], more: Surroundings = {}) => {
    const env = { REGEN_BASE_URL: service.url, BROWSER: 'true' };
    return regen(['auth', 'login', ...flags], { home, env, onSaid: withBrowser().onSaid, ...more });
  };
  const script = await login();
  expect(script.exit).toBe(4);
  expect(script.stderr).toContain(`asks for the scopes openid offline_access.`);
  expect(script.stderr).toContain(
    `does not say which service it is for. Nothing was sent to ${service.url}.`,
  );
  expect(script.stderr).toContain(`regen auth login --issuer ${issuer.url}`);
  const refused = await login([], { answers: [false] });
  expect(refused.exit).toBe(2);
  const wrong = await login(['--issuer', 'https://login.example.com']);
  expect(wrong.stderr).toContain(`signs in with ${issuer.url} instead of https://login.example.com.`);
  expect(service.seen).toEqual([]);

  expect((await login([], { answers: [true] })).exit).toBe(0);
  // It is asked once, until more is wanted.
  expect((await login()).exit).toBe(0);
  named.scopes.push('admin:everything');
  service.seen.length = 0;
  expect((await login()).exit).toBe(4);
  expect(service.seen).toEqual([]);
  expect((await login(['--issuer', issuer.url])).exit).toBe(0);
});

test('a changed issuer is noticed before anything is sent to it, also after signing out', async () => {
  const [first, second] = [await issuerForTest(), await issuerForTest()];
  const named = { issuer: first.url, clientId: first.clientId };
  const service = await serviceNaming(named);
  const home = homeForTest();
  const run = (argv: readonly string[], more: Surroundings = {}) => {
    const env = { REGEN_BASE_URL: service.url, BROWSER: 'true' };
    return regen(argv, { home, env, onSaid: withBrowser().onSaid, ...more });
  };
  expect((await run(['auth', 'login'])).exit).toBe(0);
  named.issuer = second.url;
  for (const _ of ['signed in', 'signed out']) {
    const login = await run(['auth', 'login']);
    expect(login.exit).toBe(4);
    expect(login.stderr).toContain(`${service.url} signed in with ${first.url} before.`);
    expect((await run(['auth', 'login'], { answers: [false] })).exit).toBe(2);
    expect(second.asked).toEqual([]);
    expect((await run(['auth', 'logout'])).exit).toBe(0);
  }
  expect((await run(['auth', 'login'], { answers: [true] })).exit).toBe(0);
  expect((await run(['auth', 'login'])).exit).toBe(0);
});
