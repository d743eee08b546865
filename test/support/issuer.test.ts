import { decodeJwt } from 'jose';
import { expect, it } from 'vitest';
import { createPerson, issuerForTest } from './issuer.js';
import { openInBrowser } from './open-in-browser.js';

const resource = 'http://127.0.0.1:9/';

it('signs a person in through a browser, for the resource that was asked for', async () => {
  const issuer = await issuerForTest();
  const token = await issuer.signIn(createPerson('ann', { roles: ['admin'] }), resource);
  expect(decodeJwt(token)).toMatchObject({
    iss: issuer.url,
    aud: resource,
    sub: 'ann',
    roles: ['admin'],
    email_verified: true,
  });
});

it('signs a person in through a device code, renews the token, and takes it back', async () => {
  const issuer = await issuerForTest();
  issuer.person = createPerson('bob');
  const post = async (path: string, fields: Record<string, string>) => {
    const body = new URLSearchParams({ client_id: issuer.clientId, ...fields });
    const answer = await fetch(issuer.url + path, { method: 'POST', body });
    const text = await answer.text();
    return { status: answer.status, body: text ? JSON.parse(text) : {} };
  };
  const started = await post('/device/auth', { scope: 'openid offline_access', resource });
  const grant = {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: started.body.device_code,
    resource,
  };
  expect((await post('/token', grant)).body.error).toBe('authorization_pending');
  expect((await openInBrowser(started.body.verification_uri_complete)).text).toContain('signed in');
  const given = await post('/token', grant);
  expect(decodeJwt(given.body.access_token)).toMatchObject({ sub: 'bob', aud: resource });

  const renew = (refresh_token: string) =>
    post('/token', { grant_type: 'refresh_token', refresh_token, resource });
  const renewed = await renew(given.body.refresh_token);
  expect(decodeJwt(renewed.body.access_token)).toMatchObject({ sub: 'bob', aud: resource });
  expect((await post('/token/revocation', { token: renewed.body.refresh_token })).status).toBe(200);
  expect((await renew(renewed.body.refresh_token)).body.error).toBe('invalid_grant');
});
