import { expect, test } from 'vitest';
import { regen } from '../../support/cli.js';
import { serviceForTest } from '../../support/service.js';

test('a trust check outside of CI names the command for the given publisher that takes a token', async () => {
  const { url } = await serviceForTest();
  const env = { REGEN_BASE_URL: url };
  const { exit, stderr } = await regen(['publisher', 'trust', 'check', 'my-team'], { env });
  expect(exit).not.toBe(0);
  expect(stderr).toContain('or use: regen publisher trust check my-team --id-token-file token.txt');
});
