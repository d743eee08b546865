import { expect, it } from 'vitest';
import { toSignIn } from '../../../src/cli/sign-in/tokens.js';

it('a sign-in may last longer than a date can express', async () => {
  const configuration = {
    ...{ issuer: 'https://id.example', clientId: 'regen', resource: 'https://registry.example' },
    ...{ audience: 'https://registry.example', scope: 'openid' },
  };
  const tokens = {
    access_token: 'opaque',
    token_type: 'bearer' as const,
    expires_in: Number.MAX_SAFE_INTEGER,
  };
  const { expires_at = '' } = await toSignIn(configuration, tokens as never, Date.now());
  expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
});
