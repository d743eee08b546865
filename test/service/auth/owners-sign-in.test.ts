import { expect, it } from 'vitest';
import { issuerForTest } from '../../support/issuer.js';
import { ask, serviceForTest } from '../../support/service.js';

/** A service that requires something of how owners and admins sign in. */
async function createStage(requireForOwners: { amr?: string[]; acr?: string[] }) {
  const issuer = await issuerForTest();
  const service = await serviceForTest({ issuers: [{ issuer: issuer.url, requireForOwners }] });
  const send = async (claims: object, method: string, path: string, json?: object) => {
    const token = await issuer.sign({ sub: 'ann', aud: service.url, ...claims });
    return ask(service.url + path, { token, method, json });
  };
  await send({}, 'POST', '/publishers', { id: 'acme', name: 'Acme' });
  return send;
}

it('owners and admins change something only with the sign-in that the operator requires, and read with any', async () => {
  const send = await createStage({ amr: ['mfa', 'hwk'] });
  const update = (claims: object) => send(claims, 'PUT', '/publishers/acme', { name: 'Other' });
  const weak = await update({ amr: ['pwd'] });
  expect([weak.status, weak.body]).toEqual([
    403,
    {
      error: 'forbidden',
      message: 'This needs a sign-in with amr mfa or hwk; sign in again with a second factor.',
    },
  ]);
  expect((await update({ amr: 'mfa' })).status).toBe(200);
  expect((await update({ amr: ['pwd', 'hwk'] })).status).toBe(200);
  for (const amr of [undefined, [], {}, [['mfa']], 'pwd mfa', null])
    expect((await update({ amr })).status).toBe(403);
  expect((await send({}, 'GET', '/publishers/acme/tokens')).status).toBe(200);

  const roles = ['admin'];
  expect((await send({ roles }, 'GET', '/admin/audit')).status).toBe(200);
  expect((await send({ roles }, 'POST', '/admin/generate-token')).status).toBe(403);
  expect((await send({ roles, amr: ['mfa'] }, 'POST', '/admin/generate-token')).status).toBe(200);
  // Who may not do it at all learns that, and not how to sign in.
  expect((await send({ sub: 'eve' }, 'PUT', '/publishers/acme', { name: 'Eve' })).body.message).toContain(
    'Only an owner',
  );
});

it('both the methods and the level of a sign-in count if both are required', async () => {
  const send = await createStage({ amr: ['mfa'], acr: ['gold'] });
  const update = async (claims: object) =>
    (await send(claims, 'PUT', '/publishers/acme', { name: 'Other' })).status;
  expect(await update({ amr: ['mfa'] })).toBe(403);
  expect(await update({ acr: 'gold' })).toBe(403);
  expect(await update({ amr: ['mfa'], acr: 'silver' })).toBe(403);
  expect(await update({ amr: ['mfa'], acr: 'gold' })).toBe(200);
});
