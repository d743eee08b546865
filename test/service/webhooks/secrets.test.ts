import { expect, it, vi } from 'vitest';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { startTask } from '../../support/generation.js';
import { isVerified, readWebhookSecret, receiverForTest } from '../../support/receiver.js';
import { ask, serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const hour = 3_600_000;

it('each user has one secret, of 24 bytes or more, that stays until it is rotated', async () => {
  const service = await serviceForTest();
  const first = await readWebhookSecret(service);
  expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{32,}=*$/);
  expect(await readWebhookSecret(service)).toBe(first);
  const eve = { ...service, ownerToken: await service.signFor({ sub: 'eve' }) };
  expect(await readWebhookSecret(eve)).not.toBe(first);
});

it('a rotated secret signs beside the new one for 24 hours, and no longer', async () => {
  const { url: webhook_url, received } = await receiverForTest();
  const parts = { engines: { image: createCopyingEngine() }, now: () => Date.now() };
  const service = await serviceForTest({}, parts);
  const { url, ownerToken: token } = service;
  const old = await readWebhookSecret(service);
  const rotated = await ask(`${url}/users/webhook-secret/rotate`, { method: 'POST', token });
  const { secret } = rotated.body;
  const readSecrets = async () => (await ask(`${url}/users/webhook-secret`, { token })).body;
  expect(rotated.body).toEqual({ secret, previous: [old] });
  expect(await readSecrets()).toEqual(rotated.body);

  const tell = async () => {
    const count = received.length + 2;
    await startTask({ url, token }, { webhook_url });
    await waitFor(() => expect(received).toHaveLength(count));
    return received.at(-1) as (typeof received)[0];
  };
  const both = await tell();
  expect([isVerified(both, old), isVerified(both, secret)]).toEqual([true, true]);
  expect(both.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);

  // Also for the receiver, whose library reads the clock.
  vi.setSystemTime(Date.now() + 24 * hour);
  try {
    const one = await tell();
    expect([isVerified(one, old), isVerified(one, secret)]).toEqual([false, true]);
    expect(await readSecrets()).toEqual({ secret });
  } finally {
    vi.useRealTimers();
  }
});

it('many rotations in a day add at most three signatures to the header', async () => {
  const { url: webhook_url, received } = await receiverForTest();
  const service = await serviceForTest({}, { engines: { image: createCopyingEngine() } });
  const { url, ownerToken: token } = service;
  for (let count = 0; count < 6; count++) {
    await ask(`${url}/users/webhook-secret/rotate`, { method: 'POST', token });
  }
  await startTask({ url, token }, { webhook_url });
  await waitFor(() => expect(received).toHaveLength(2));
  expect(String(received[0]?.headers['webhook-signature']).split(' ')).toHaveLength(3);
});
