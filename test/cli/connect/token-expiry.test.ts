import { expect, it } from 'vitest';
import { regen } from '../../support/cli.js';
import { packForTest } from '../../support/packs.js';
import { ask, publisherForTest, serviceForTest } from '../../support/service.js';

const DAY_MS = 24 * 60 * 60_000;

it('a token that ends within 14 days is warned about by auth status, doctor and publish, a later one is not', async () => {
  const service = await serviceForTest();
  await publisherForTest(service);
  const run = async (days: number, name: string) => {
    const expires_at = new Date(Date.now() + days * DAY_MS + 60_000).toISOString();
    const json = { name: 'ci', expires_at };
    const path = `${service.url}/publishers/acme/tokens`;
    const { body } = await ask(path, { method: 'POST', token: service.ownerToken, json });
    const token = { REGEN_BASE_URL: service.url, REGEN_TOKEN: body.token, REGEN_PUBLISH_TOKEN: body.token };
    const status = await regen(['auth', 'status'], { env: token });
    const doctor = await regen(['doctor', '--json'], { env: token });
    const credential = JSON.parse(doctor.stdout).find(
      ({ check }: { check: string }) => check === 'credential',
    );
    const published = await regen(['version', 'publish', packForTest({ name })], { env: token });
    expect(published.exit, published.stderr).toBe(0);
    return { status: status.stderr, doctor: credential, published: published.stderr, expires_at };
  };
  const soon = await run(13, 'soon');
  const advice =
    'The personal access token expires in 13 days. Sign in to create another one with: regen publisher token create <publisher> <name>';
  expect(soon.status).toContain(advice);
  expect(soon.doctor).toMatchObject({ status: 'warn', advice });
  expect(soon.published).toContain(
    `The personal access token expires at ${soon.expires_at}. Create another one with: regen publisher token create acme <name>`,
  );
  const later = await run(15, 'later');
  expect([later.status, later.doctor.status]).toEqual(['', 'ok']);
  expect(later.published).not.toContain('expires');
});
