import { expect, it, vi } from 'vitest';
import { copyingEngine } from '../../support/copying-engine.js';
import { startedTask } from '../../support/generation.js';
import { isVerified, receiverForTest, webhookSecret } from '../../support/receiver.js';
import { ask, serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const hour = 3_600_000;

it('each user has one secret, of 24 bytes or more, that stays until it is rotated', async () => {
  const service = await serviceForTest();
  const first = await webhookSecret(service);
  expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{32,}=*$/);
  expect(await webhookSecret(service)).toBe(first);
  const eve = { ...service, ownerToken: await service.signFor({ sub: 'eve' }) };
  expect(await webhookSecret(eve)).not.toBe(first);
});

it('a rotated secret signs beside the new one for 24 hours, and no longer', async () => {
  const { url: webhook_url, told } = await receiverForTest();
  const parts = { engines: { image: copyingEngine() }, now: () => Date.now() };
  const service = await serviceForTest({}, parts);
  const { url, ownerToken: token } = service;
  const old = await webhookSecret(service);
  const rotated = await ask(`${url}/users/webhook-secret/rotate`, { method: 'POST', token });
  const { secret } = rotated.body;
  expect(await webhookSecret(service)).toBe(secret);

  const tell = async () => {
    const count = told.length + 2;
    await startedTask({ url, token }, { webhook_url });
    await waitFor(() => expect(told).toHaveLength(count));
    return told.at(-1) as (typeof told)[0];
  };
  const both = await tell();
  expect([isVerified(both, old), isVerified(both, secret)]).toEqual([true, true]);
  expect(both.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);

  // Also for the receiver, whose library reads the clock.
  vi.setSystemTime(Date.now() + 24 * hour);
  try {
    const one = await tell();
    expect([isVerified(one, old), isVerified(one, secret)]).toEqual([false, true]);
  } finally {
    vi.useRealTimers();
  }
});

it('many rotations in a day add at most three signatures to the header', async () => {
  const { url: webhook_url, told } = await receiverForTest();
  const service = await serviceForTest({}, { engines: { image: copyingEngine() } });
  const { url, ownerToken: token } = service;
  for (let count = 0; count < 6; count++) {
    await ask(`${url}/users/webhook-secret/rotate`, { method: 'POST', token });
  }
  await startedTask({ url, token }, { webhook_url });
  await waitFor(() => expect(told).toHaveLength(2));
  expect(String(told[0]?.headers['webhook-signature']).split(' ')).toHaveLength(3);
});
