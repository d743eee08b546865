import { expect, it } from 'vitest';
import { homeForTest, regen } from '../../support/cli.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { pixel, startTask } from '../../support/generation.js';
import { filesForTest } from '../../support/packs.js';
import { serviceForTest } from '../../support/service.js';

async function serviceWithUsage() {
  const { url, ownerToken } = await serviceForTest(
    { prices: { image: { relight: 30 } } },
    { engines: { image: createCopyingEngine() }, now: () => Date.parse('2026-03-30T12:00:00Z') },
  );
  for (let count = 0; count < 2; count++) await startTask({ url, token: ownerToken });
  return { env: { REGEN_BASE_URL: url, REGEN_TOKEN: ownerToken } };
}

it('usage is a table, CSV with a header, or the response as JSON', async () => {
  const surroundings = await serviceWithUsage();
  const piped = await regen(['usage', '--by', 'day'], surroundings);
  expect(piped.stdout.split('\t').filter((cell) => cell.trim() !== '')).toEqual([
    '2026-03-30',
    '2',
    '60',
    '0',
    '60\n',
  ]);
  const csv = await regen(['admin', 'usage', '--csv'], surroundings);
  expect(csv.stdout).toBe(
    'day,user_id,user_email,key_name,key_id,operation,model,tasks,charged,refunded,credits,vendor_credits,difference\n2026-03-30,owner,,,,image.relight,,2,60,0,60,,\n',
  );
  const json = await regen(['usage', '--json'], surroundings);
  expect(JSON.parse(json.stdout)).toMatchObject({ from: '2026-03-01', to: '2026-03-30', credits: 60 });
});

it('an admin sets the budget of a user', async () => {
  const surroundings = await serviceWithUsage();
  const { exit, stdout } = await regen(['admin', 'user', 'set', 'owner', '70', '--json'], surroundings);
  expect([exit, JSON.parse(stdout)]).toMatchObject([0, { id: 'owner', budget: { used: 60, left: 10 } }]);
  const wrong = await regen(['admin', 'user', 'set', 'owner', 'lots'], surroundings);
  expect([wrong.exit, wrong.stderr]).toEqual([2, expect.stringContaining('must be a whole number')]);
});

it('a missing budget is required', async () => {
  const surroundings = await serviceWithUsage();
  const { exit, stderr } = await regen(['admin', 'user', 'set', 'owner'], surroundings);
  expect([exit, stderr]).toEqual([2, 'error: <credits_per_month> is required.\n']);
});

it('what a service without a publisher or a credential refuses is answered with what creates it there', async () => {
  const { env } = await serviceWithUsage();
  const surroundings = {
    home: homeForTest(),
    cwd: filesForTest({ 'photo.png': Buffer.from(pixel, 'base64') }),
  };
  const run = (argv: string[], named = {}) => regen(argv, { ...surroundings, env: named });
  const token = await run(
    ['publisher', 'token', 'create', 'my-team', 'ci', '--output-file', 'token.txt'],
    env,
  );
  expect([token.exit, token.stderr]).toEqual([
    3,
    expect.stringContaining('hint: Create it with: regen publisher create my-team --name <name>\n'),
  ]);
  const started = await run(['image', 'relight', 'photo.png', '--no-wait'], env);
  const waited = await run(['task', 'wait', started.stdout.trim()]);
  expect([waited.exit, waited.stderr]).toEqual([
    4,
    expect.stringContaining(`of the task with: regen auth login --base-url ${env.REGEN_BASE_URL}\n`),
  ]);
});

it('a budget that is used up is answered with what raises it', async () => {
  const { env } = await serviceWithUsage();
  const cwd = filesForTest({ 'photo.png': Buffer.from(pixel, 'base64') });
  const relight = ['image', 'relight', 'photo.png', '--no-wait'];
  const key = ['key', 'create', 'small', '--credits-per-month', '10', '--output-file', 'key.txt'];
  expect((await regen(key, { env, cwd })).exit).toBe(0);
  const ofKey = await regen([...relight, '--base-url', env.REGEN_BASE_URL, '--token-file', 'key.txt'], {
    cwd,
  });
  expect(ofKey.stderr).toContain(
    '; its user can create another key.\nhint: The limit was set with the key: by --credits',
  );
  expect(ofKey.stderr).toContain('<name> --credits-per-month <number>');
  expect(ofKey.stderr).not.toContain('an admin can raise');
  const limited = [
    'key',
    'create',
    'upscaling',
    '--operations',
    'image.upscaler',
    '--output-file',
    'other.txt',
  ];
  expect((await regen(limited, { env, cwd })).exit).toBe(0);
  const other = [...relight, '--base-url', env.REGEN_BASE_URL, '--token-file', 'other.txt'];
  expect((await regen(other, { cwd })).stderr).toContain('<name> --operations <operations>\n');
  await regen(['admin', 'user', 'set', 'owner', '70'], { env });
  const ofUser = await regen(relight, { env, cwd });
  expect(ofUser.stderr).toContain('an admin can raise the budget of a user.\n');
  expect(ofUser.stderr).not.toContain('key');
});
