import { expect, test } from 'vitest';
import { regen } from '../../support/cli.js';
import { serviceForTest } from '../../support/service.js';

test('a sign-in to an address shows how to create a profile for it', async () => {
  const service = await serviceForTest();
  const argv = ['auth', 'login', '--base-url', service.url, '--with-token'];
  const { exit, stderr } = await regen(argv, { stdin: service.ownerToken });
  expect(exit, stderr).toBe(0);
  expect(stderr).toContain(`regen config set profiles.<name>.base_url ${service.url}`);
});

test('auth login --with-token prompts for the token on a terminal and does not show it', async () => {
  const { url, ownerToken } = await serviceForTest();
  const { exit, stderr } = await regen(['auth', 'login', '--with-token'], {
    env: { REGEN_BASE_URL: url },
    answers: [ownerToken],
  });
  expect(exit, stderr).toBe(0);
  expect(stderr).not.toContain(ownerToken);
});
