import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeForTest, regen } from '../support/cli.js';
import { folderForTest, serviceForTest } from '../support/service.js';

const random = () => randomBytes(32).toString('base64url');
const jwt = ['{"alg":"RS256"}', '{"sub":"ann"}', random()].map((part) =>
  Buffer.from(part).toString('base64url'),
);

/** Tokens of the service, of an identity provider, and one of another service that is in the environment. */
const tokens = {
  publisher: `regen_pat_${random()}`,
  key: `regen_key_${random()}`,
  owner: `regen_owner_${random()}`,
  webhook: `whsec_${randomBytes(32).toString('base64')}`,
  identity: jwt.join('.'),
  environment: 'opaque token of "another" service',
};

/** Every kind of place on a command line whose text a message or a result repeats. */
const places: readonly ((token: string) => string[])[] = [
  (token) => [token],
  (token) => [token, '--help'],
  (token) => ['help', token],
  (token) => ['node', token],
  (token) => [`--token=${token}`, 'node', 'list'],
  (token) => ['version', 'publish', `--token=${token}`],
  (token) => ['version', 'publish', `-t${token}`],
  (token) => ['version', 'publish', '--timeout', token],
  (token) => ['version', 'publish', token],
  (token) => ['version', 'check', token],
  (token) => ['version', 'pack', '.', token],
  (token) => ['auth', 'login', `--token=${token}`],
  (token) => ['node', 'search', 'x', '--limit', token],
  (token) => ['node', 'search', token, '--dry-run'],
  (token) => ['node', 'get', token],
  (token) => ['node', 'get', `${token}@1.0.0`],
  (token) => ['node', 'get', 'x', '--base-url', token],
  (token) => ['node', 'get', 'x', '--base-url', `http://${token}/`],
  (token) => ['node', 'get', 'x', '--profile', token],
  (token) => ['node', 'get', 'x', '--token-file', token],
  (token) => ['node', 'get', 'x', '--jq', token],
  (token) => ['node', 'get', 'x', '--jq', `"${token}`],
  (token) => ['node', 'get', 'x', '--columns', token],
  (token) => ['node', 'get', 'x', '--request-timeout', token],
  (token) => ['node', 'install', token, '--into', 'custom_nodes'],
  (token) => ['node', 'init', token, '--yes'],
  (token) => ['version', 'list', 'x', '--statuses', token],
  (token) => ['version', 'deprecate', 'x', token, '--message', token],
  (token) => ['image', 'relight', token],
  (token) => ['image', 'relight', 'a.png', '--style', token],
  (token) => ['image', 'relight', '--body', JSON.stringify({ [token]: 1 })],
  (token) => ['config', 'set', 'profile', token],
  (token) => ['config', 'set', token, 'x'],
  (token) => ['config', 'get', token],
  (token) => ['api', token],
  (token) => ['api', `/nodes/${token}`],
  (token) => ['api', 'POST', '/nodes', '--field', token],
  (token) => ['api', 'GET', '/nodes', '--field', `search=${token}`, '--dry-run'],
  (token) => ['task', 'wait', token],
  (token) => ['workflow', 'check', token],
  (token) => ['webhook', 'verify', token],
  (token) => ['completion', token],
  (token) => ['publisher', 'get', token, '--verbose'],
];

test('a token that is typed anywhere on a command line is in no line that is printed', {
  timeout: 120_000,
}, async () => {
  const { url } = await serviceForTest({ data: join(folderForTest(), 'data') });
  const home = homeForTest();
  const leaks: unknown[] = [];
  const silent: unknown[] = [];
  for (const place of places) {
    for (const [kind, token] of Object.entries(tokens)) {
      for (const format of [[], ['--json']]) {
        const argv = [...place(token), ...format];
        const env = { REGEN_BASE_URL: url, REGEN_TOKEN: tokens.environment };
        const { stdout, stderr } = await regen(argv, { env, home, cwd: home });
        if (stdout + stderr === '') silent.push(place('TOKEN'));
        if (listForms(token).some((form) => `${stdout}\n${stderr}`.toLowerCase().includes(form)))
          leaks.push({ kind, argv: place('TOKEN'), stdout, stderr });
      }
    }
  }
  expect(leaks).toEqual([]);
  expect(silent).toEqual([]);
});

/** A long part of a token, as it is, in JSON, in a URL, and as the name of a flag. */
function listForms(token: string): string[] {
  const part = token.slice(-28, -2);
  const forms = [part, JSON.stringify(part).slice(1, -1), encodeURIComponent(part), part.replace(/_/g, '-')];
  return forms.map((form) => form.toLowerCase());
}
