import { expect, it } from 'vitest';
import { ask, serviceForTest } from '../../support/service.js';

const path = '/.well-known/oauth-protected-resource';

it('tells a client without a credential where to sign in, and with which client id', async () => {
  const { url } = await serviceForTest({
    issuers: [
      { issuer: 'https://login.example.org/', clientId: 'regen-cli', scopes: ['openid', 'email'] },
      { issuer: 'https://ci.example.org', clientId: 'other' },
    ],
  });
  const refused = await ask(`${url}/users/me`);
  expect(refused.status).toBe(401);
  const [, where] = /^Bearer resource_metadata="(.+)"$/.exec(
    refused.headers.get('www-authenticate') ?? '',
  ) ?? [''];
  expect((await ask(where as string)).body).toEqual({
    resource: url,
    authorization_servers: ['https://login.example.org/', 'https://ci.example.org'],
    bearer_methods_supported: ['header'],
    scopes_supported: ['openid', 'email'],
    regen_client_id: 'regen-cli',
  });
});

it('answers 404 without a configured identity provider', async () => {
  const { url } = await serviceForTest();
  expect((await ask(url + path)).body.error).toBe('not_found');
  expect((await ask(`${url}/users/me`)).headers.get('www-authenticate')).toBe('Bearer');
});

it('refuses a configuration with unsafe issuers, naming every problem with its path', async () => {
  const issuers = [
    ...['http://login.example.org', 'https://u:p@example.org', 'https://example.org/?a', 'ftp://example.org'],
    ...['http://127.0.0.1:1', 'http://127.0.0.1:1'],
  ].map((issuer) => ({ issuer }));
  const started = serviceForTest({
    issuers: [...issuers, { issuer: 'https://example.org', algorithms: ['HS256', 'none'] as never }],
  });
  const { problems } = await started.catch((error) => error);
  expect(problems.map((problem: { path: string[] }) => problem.path.join('.'))).toEqual([
    ...[0, 1, 2, 3].map((index) => `issuers.${index}.issuer`),
    ...['issuers.6.algorithms.0', 'issuers.6.algorithms.1'],
  ]);
  const twice = await serviceForTest({ issuers: issuers.slice(4) }).catch((error) => error);
  expect(twice.message).toContain('issuers.1.issuer must not appear twice');
});
