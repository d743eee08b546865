import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeWithService, type Ran, regen, startRegen } from '../support/cli.js';
import { pixel } from '../support/generation.js';
import { filesForTest } from '../support/packs.js';

const plantSecret = (name: string) => `planted${name}${'x'.repeat(24)}`;

const manifest = `[project]
name = "pack"
version = "1.0.0"
[tool.hostui]
PublisherId = "acme"
`;

/** Whole files below a folder, by path. */
function filesBelow(folder: string): [string, string][] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => [path, readFileSync(path, 'latin1')]);
}

test('a tour of the commands leaves no secret where others could read it', async () => {
  const home = homeWithService();
  const data = join(home, '.local', 'share', 'regen');
  const env: Record<string, string> = {
    REGEN_TOKEN: plantSecret('Bearer'),
    REGEN_PUBLISH_TOKEN: plantSecret('Publish'),
    REGEN_WEBHOOK_SECRET: plantSecret('Webhook'),
    REGEN_ADMIN_TOKEN: plantSecret('Admin'),
    AWS_SECRET_ACCESS_KEY: plantSecret('Cloud'),
    GITHUB_TOKEN: plantSecret('Forge'),
    NPM_TOKEN: plantSecret('Packages'),
    DATABASE_PASSWORD: plantSecret('Database'),
    HTTPS_PROXY: `http://user:${plantSecret('Proxy')}@127.0.0.1:9`,
  };
  const secrets = new Map(Object.entries(env).map(([name, value]) => [name, value.match(/planted\w+/)?.[0]]));
  // The embedded service is started by a command that knows them all.
  const first = await startRegen(['node', 'search', '--profile', 'local'], { home, env }).ended;
  const { url, pid } = JSON.parse(readFileSync(join(data, 'service.json'), 'utf8'));
  const owner = readFileSync(join(data, 'owner.token'), 'utf8').trim();
  secrets.set('the owner', owner);

  const cwd = filesForTest({
    'owner.txt': owner,
    'wrong.txt': plantSecret('TokenFile'),
    'pack/pyproject.toml': manifest,
    'pack/__init__.py': 'NODE_CLASS_MAPPINGS = {}\n',
    'pack/.env': `KEY=${plantSecret('InPack')}\n`,
    'clean/pyproject.toml': manifest,
    'clean/__init__.py': 'NODE_CLASS_MAPPINGS = {}\n',
    'clean/.env': `KEY=${plantSecret('InPack')}\n`,
    'clean/deploy.pem': `-----BEGIN PRIVATE KEY-----\n${plantSecret('Pem')}\n-----END PRIVATE KEY-----\n`,
    'clean/.regenignore': '.env\n*.pem\n',
    'jobs.jsonl': `${JSON.stringify({ command: 'image skin-enhancer', image: `base64:${pixel}` })}\n`,
  });
  secrets
    .set('a wrong token file', plantSecret('TokenFile'))
    .set('a secret of the pack', plantSecret('InPack'));
  secrets.set('a key of the pack', plantSecret('Pem'));

  const ran: [argv: readonly string[], ran: Ran][] = [[['node', 'search'], first]];
  const tour = async (argv: string[], more: Record<string, string> = {}, stdin = '') => {
    const done = await regen(argv, { home, cwd, stdin, env: { ...env, REGEN_BASE_URL: url, ...more } });
    ran.push([argv, done]);
    return done;
  };
  const asOwner = ['--token-file', 'owner.txt', '--verbose'];
  const only = { REGEN_TOKEN: '', REGEN_PUBLISH_TOKEN: '' };

  await tour(['publisher', 'create', 'acme', '--name', 'Acme', ...asOwner]);
  const pat = await regen(['publisher', 'token', 'create', 'acme', 'ci', '--token-file', 'owner.txt'], {
    ...{ home, cwd, env: { REGEN_BASE_URL: url } },
  });
  secrets.set('a personal access token', pat.stdout.trim());
  await tour(['publisher', 'token', 'list', 'acme', '--json', ...asOwner]);
  await tour(['auth', 'login', '--with-token', '--verbose'], {}, `${owner}\n`);
  await tour(['auth', 'login', '--with-token', '--publisher', 'acme', '--verbose'], {}, pat.stdout);
  await tour(['auth', 'status', '--verbose'], only);
  await tour(['auth', 'status', '--verbose', '--json']);
  await tour(['auth', 'status', '--verbose', '--token-file', 'wrong.txt']);
  await tour(['doctor']);
  await tour(['config', 'list', '--json']);
  await tour(['node', 'search', '--verbose', '--base-url', 'https://registry.example'], {
    REGEN_BASE_URL: '',
  });
  await tour([
    'node',
    'search',
    '--base-url',
    url.replace('//', `//me:${plantSecret('Address')}@`),
    '--verbose',
  ]);
  secrets.set('a password in an address', plantSecret('Address'));
  await tour(['admin', 'generate-token', '--output-file', 'admin.txt', ...asOwner]);
  secrets.set('an admin token', readFileSync(join(cwd, 'admin.txt'), 'utf8').trim());
  await tour(['admin', 'audit', '--json', '--verbose', '--token-file', 'admin.txt']);
  await tour(['version', 'check', 'pack']);
  await tour(['version', 'publish', 'pack', '--verbose'], only);
  await tour(['version', 'pack', 'clean', '--output', 'pack.zip']);
  await tour(['version', 'publish', 'clean', '--verbose'], only);
  const webhookSecret = async (...argv: string[]) => {
    const { stdout } = await regen(['webhook', 'secret', ...argv, '--token-file', 'owner.txt'], {
      ...{ home, cwd, env: { REGEN_BASE_URL: url } },
    });
    return stdout.trim();
  };
  secrets.set('a webhook secret', await webhookSecret());
  secrets.set('the webhook secret after it', await webhookSecret('--rotate', '--yes'));
  await tour(['webhook', 'verify', '--id', 'a', '--timestamp', '1', '--signature', 'v1,AA=='], {}, '{}');
  await tour(['webhook', 'deliveries', '--json', ...asOwner]);
  await tour(['image', 'relight', `base64:${pixel}`, '--no-wait', ...asOwner]);
  await tour(['batch', 'jobs.jsonl', '--output', 'made/', ...asOwner]);
  await tour(['task', 'list', '--json']);
  await tour(['admin', 'exec', ...asOwner, '--', process.execPath, '-e', '0']);
  await tour(['api', '/users/me', '--verbose', ...asOwner]);
  await tour(['api', 'POST', '/publishers', '-F', 'id=1', '--verbose', '--json'], only);

  // A sign-in whose issuer is gone.
  const folder = join(home, '.config', 'regen', 'credentials');
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const sign_in = {
    ...{ issuer: 'http://127.0.0.1:9', client_id: 'cli', expires_at: '2020-01-01T00:00:00Z' },
    ...{ access_token: plantSecret('Access'), refresh_token: plantSecret('Refresh') },
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file as string), JSON.stringify({ sign_in }), { mode: 0o600 });
  secrets.set('an access token', sign_in.access_token).set('a refresh token', sign_in.refresh_token);
  await tour(['auth', 'status', '--verbose'], only);
  await tour(['auth', 'logout', '--verbose'], only);

  const proc = (name: string) => `/proc/${pid}/${name}`;
  const places: [place: string, text: string][] = [
    ...ran.map(([argv, { stdout, stderr }]): [string, string] => [argv.join(' '), stdout + stderr]),
    ...filesBelow(join(home, '.local', 'state')),
    ...filesBelow(join(home, '.config')),
    ...filesBelow(cwd).filter(([path]) => path.includes('jobs.jsonl') || path.includes('made')),
    ['the archive', readFileSync(join(cwd, 'pack.zip'), 'latin1')],
    ...['environ', 'cmdline']
      .filter((name) => existsSync(proc(name)))
      .map((name): [string, string] => [proc(name), readFileSync(proc(name), 'latin1')]),
  ];
  expect(secrets.size).toBeGreaterThanOrEqual(20);
  const found = places.flatMap(([place, text]) =>
    Array.from(secrets)
      .filter(([, secret]) => text.includes(secret as string))
      .map(([name]) => `${name} in ${place}`),
  );
  expect(found).toEqual([]);
  // What signs an address is masked as well, but for those of results, which are what was asked for.
  const signed = /\S+[?&](?:sig|signature|token)=(?!\*|%2A)\S*/gi;
  const received = places.flatMap(([, text]) => text.match(signed) ?? []);
  expect(received.filter((address) => !address.includes('/results/'))).toEqual([]);
  expect(ran.filter(([, { exit }]) => exit === 1)).toEqual([]);
  expect(ran.filter(([, { exit }]) => exit === 0).length).toBeGreaterThan(10);
});
