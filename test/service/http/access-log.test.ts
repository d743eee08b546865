import { expect, it } from 'vitest';
import type { ServiceParts } from '../../../src/service/serve.js';
import { createZip } from '../../support/create-zip.js';
import { createPerson, issuerForTest } from '../../support/issuer.js';
import {
  ask,
  publisherForTest,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** A log that keeps its lines. */
function keepLines(): { lines: Line[]; log: NonNullable<ServiceParts['log']> } {
  const lines: Line[] = [];
  return { lines, log: (level, message, fields) => void lines.push({ level, message, ...fields }) };
}

it('logs each request once it has ended, with its id, client, route, status and duration, and no query', async () => {
  const { lines, log } = keepLines();
  const { url } = await serviceForTest({ logLevel: 'info' }, { log });
  await ask(`${url}/nodes/missing?include=secret`, { headers: { 'x-request-id': 'proxy-42' } });
  await waitFor(async () =>
    expect(lines.find(({ message }) => message === 'request')).toMatchObject({
      requestId: 'proxy-42',
      client: '127.0.0.1',
      method: 'GET',
      path: '/nodes/missing',
      route: '/nodes/:nodeId',
      status: 400,
      ms: expect.any(Number),
    }),
  );
  expect(JSON.stringify(lines)).not.toContain('secret');
});

it('logs a sign-in once, and whose credential each request has, but not the credential', async () => {
  const { lines, log } = keepLines();
  const issuer = await issuerForTest();
  const { url } = await serviceForTest({ logLevel: 'info', issuers: [{ issuer: issuer.url }] }, { log });
  const token = await issuer.signIn(createPerson('una'), url);
  for (let round = 0; round < 2; round++) await ask(`${url}/users/me`, { token });
  const { body } = await ask(`${url}/users/me`, { token });
  await waitFor(async () => {
    const requests = lines.filter(({ message }) => message === 'request');
    expect(requests).toHaveLength(3);
    for (const request of requests)
      expect(request).toMatchObject({ user: body.id, credential: 'identity_provider' });
  });
  const signedIn = lines.filter(({ message }) => message === 'sign-in');
  expect(signedIn).toMatchObject([{ issuer: issuer.url, subject: 'una', admin: false }]);
  expect(JSON.stringify(lines)).not.toContain(token.split('.').at(-1));
});

it('keeps a request id that a proxy gave, and replaces one that could forge a line', async () => {
  const { url } = await serviceForTest();
  const answer = (id: string) => ask(`${url}/health`, { headers: { 'x-request-id': id } });
  expect((await answer('a1b2-c3')).headers.get('x-request-id')).toBe('a1b2-c3');
  for (const forged of ['x y', 'x'.repeat(200), '"x"'])
    expect((await answer(forged)).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

it('logs requests that are answered from memory too', async () => {
  const { lines, log } = keepLines();
  const { url } = await serviceForTest({ logLevel: 'info' }, { log });
  for (let round = 0; round < 3; round++) await ask(`${url}/nodes`);
  await waitFor(async () =>
    expect(lines.filter(({ message, status }) => message === 'request' && status === 200)).toHaveLength(3),
  );
});

it('logs the start, publishing, the verdict and the stop', async () => {
  const { lines, log } = keepLines();
  const service = await serviceForTest({ logLevel: 'info' }, { log });
  const publisher = await publisherForTest(service);
  const { signedUrl } = await registerVersion(publisher);
  await uploadArchive(signedUrl, await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' }));
  await waitFor(async () =>
    expect(lines.find(({ message }) => message === 'verdict')).toMatchObject({
      nodeId: 'pack',
      status: 'NodeVersionStatusActive',
    }),
  );
  await service.stop();
  // Once, although a transaction may run again.
  const actions = lines.filter(({ message }) => message === 'action').map(({ action }) => action);
  expect(actions).toEqual(['publisher.create', 'token.create']);
  expect(lines.map(({ message }) => message)).toEqual(
    expect.arrayContaining([
      'The service is ready.',
      'action',
      'The service is stopping.',
      'The service has stopped.',
    ]),
  );
  expect(JSON.stringify(lines)).not.toContain(publisher.personalAccessToken);
});

it('does not log requests on loopback unless configured', async () => {
  const { lines, log } = keepLines();
  const { url } = await serviceForTest({}, { log });
  await ask(`${url}/health`);
  expect(lines.filter(({ message }) => message === 'request')).toEqual([]);
});
