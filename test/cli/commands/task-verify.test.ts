import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { computeThumbprint, signEnvelope } from '../../../src/wire/envelope.js';
import { homeForTest, regen } from '../../support/cli.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { png } from '../../support/generation-double.js';
import { folderForTest, serviceForTest } from '../../support/service.js';

async function saveOne() {
  const image = createCopyingEngine();
  const service = await serviceForTest({ prices: { image: { relight: 3 } } }, { engines: { image } });
  const [home, cwd] = [homeForTest(), folderForTest()];
  writeFileSync(join(cwd, 'photo.png'), png);
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const relight = 'image relight photo.png -o out.png --interval 200ms --receipt'.split(' ');
  const done = await regen(relight, { home, cwd, env });
  expect(done.exit, done.stderr).toBe(0);
  const verify = (at = home, ...more: string[]) =>
    regen(['task', 'verify', 'out.png', ...more], { home: at, cwd });
  const change = (name: string, edit: (text: string) => string) => {
    const path = join(cwd, name);
    const before = readFileSync(path, 'latin1');
    writeFileSync(path, edit(before), 'latin1');
    return () => writeFileSync(path, before, 'latin1');
  };
  return { service, cwd, verify, change };
}

test('task verify says offline that a file and its receipt belong together, and what it cost', async () => {
  const { service, cwd, verify } = await saveOne();
  const keys = await (await fetch(`${service.url}/.well-known/regen-keys`)).text();
  await service.stop();
  const { exit, stdout, stderr } = await verify();
  expect([exit, stdout]).toEqual([0, expect.stringContaining('credits\t3\n')]);
  expect(stderr).toBe('The file and its receipt belong together.\n');
  // On a machine that never met the service.
  const stranger = homeForTest();
  expect(await verify(stranger)).toMatchObject({
    exit: 6,
    stderr: expect.stringContaining('is not known here'),
  });
  writeFileSync(join(cwd, 'keys.json'), keys);
  expect((await verify(stranger, '--keys', 'keys.json')).exit).toBe(0);
});

test('a changed byte of the file, the receipt or its statement is named', async () => {
  const { verify, change } = await saveOne();
  const cases: [string, (text: string) => string, string][] = [
    ['out.png', (text) => `${text.slice(0, -1)}X`, 'The file is not a result of the task'],
    [
      'out.png.receipt.json',
      (text) => text.replace('"credits": 3', '"credits": 2'),
      'The receipt was changed',
    ],
    [
      'out.png.receipt.json',
      (text) => text.replace('"operation": "i', '"operation": "I'),
      'The receipt was changed',
    ],
    [
      'out.png.receipt.json',
      (text) => text.replace('"payload": "e', '"payload": "f'),
      'The statement on the task',
    ],
    ['out.png.receipt.json', (text) => text.replace(/"keyid": "./, '"keyid": "~'), 'is not known here'],
    ['out.png.receipt.json', (text) => text.replace('"statement"', '"Statement"'), 'no one vouches for it'],
    ['out.png.receipt.json', (text) => text.slice(1), 'it is not JSON'],
  ];
  for (const [name, edit, message] of cases) {
    const restore = change(name, edit);
    const { exit, stderr } = await verify();
    expect([exit === 0, stderr]).toEqual([false, expect.stringContaining(message)]);
    restore();
  }
  expect((await verify()).exit).toBe(0);
});

test('a receipt of another file with the same service is refused', async () => {
  const { cwd, verify } = await saveOne();
  writeFileSync(join(cwd, 'out.png'), readFileSync(join(cwd, 'out.png.receipt.json')));
  expect(await verify()).toMatchObject({
    exit: 7,
    stderr: expect.stringContaining('is not a result of the task'),
  });
});

test('a service that signs in the name of another one is shown under the name of its own key', async () => {
  const [home, cwd] = [homeForTest(), folderForTest()];
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const key = { kty: 'OKP', crv: 'Ed25519', x } as const;
  const kid = computeThumbprint(key);
  mkdirSync(join(home, '.config/regen/credentials'), { recursive: true, mode: 0o700 });
  const known = JSON.stringify({ 'https://evil.example.org': [{ kid, ...key }] });
  writeFileSync(join(home, '.config/regen/credentials/known-keys.json'), known, { mode: 0o600 });
  writeFileSync(join(cwd, 'out.png'), png);
  const receipt = { service: 'https://evil.example.org', task_id: 'one' };
  const hash = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
  const subjects = [hash(png), hash(JSON.stringify(receipt))];
  const statement = signEnvelope(
    'application/vnd.in-toto+json',
    {
      _type: 'https://in-toto.io/Statement/v1',
      subject: subjects.map((sha256) => ({ name: 'x', digest: { sha256 } })),
      predicateType: 'urn:regen:task:1',
      predicate: { service: 'https://good.example.org', task_id: 'two', operation: 'image.relight' },
    },
    { kid, privateKey },
  );
  writeFileSync(join(cwd, 'out.png.receipt.json'), JSON.stringify({ ...receipt, statement }));
  const { stdout, stderr } = await regen(['task', 'verify', 'out.png'], { home, cwd });
  expect(stdout, stderr).toContain('service\thttps://evil.example.org\n');
  expect(stdout).toContain('task_id\tone\n');
  expect(stdout).not.toContain('good');
});
