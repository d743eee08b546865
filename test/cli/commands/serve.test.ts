import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { homeForTest, regen, startRegen } from '../../support/cli.js';
import { folderForTest, serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

test('serve status of a stopped service shows how to start it with the given data folder', async () => {
  const data = folderForTest();
  const { stderr } = await regen(['serve', 'status', '--data', data]);
  expect(stderr).toContain(`regen serve --data ${data} --detach`);
  expect(stderr).not.toContain('--config');
  expect((await regen(['serve', 'status'])).stderr).toContain(
    'If it runs with a configuration, pass that with --config.',
  );
});

test('serve on a data folder in use shows how to stop the service there', async () => {
  const data = join(folderForTest(), 'my data');
  await serviceForTest({ data });
  const { exit, stderr } = await regen(['serve', '--port', '0', '--data', data]);
  expect(exit).toBe(5);
  expect(stderr).toContain(`regen serve stop --data '${data}'`);
});

test('serve logs --json prints a list, even if the log has other lines', async () => {
  const home = homeForTest();
  expect((await regen(['serve', 'logs', '--json'], { home })).stdout).toBe('[]\n');
  const log = join(home, '.local', 'state', 'regen', 'service.log');
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, '{"level":"warn"}\nnot JSON\n');
  const { stdout } = await regen(['serve', 'logs', '--json'], { home });
  expect(JSON.parse(stdout)).toEqual([{ level: 'warn' }, { message: 'not JSON' }]);
  expect((await regen(['serve', 'logs'], { home })).stdout).toBe('{"level":"warn"}\nnot JSON\n');
});

test('serve logs prints the log of the service of a data folder, whose starts have a time', async () => {
  const home = homeForTest();
  const data = join(home, 'registry');
  onTestFinished(async () => void (await startRegen(['serve', 'stop', '--data', data], { home }).ended));
  const started = await startRegen(['serve', '--port', '0', '--data', data, '--detach'], { home }).ended;
  const { stdout } = await regen(['serve', 'logs', '--data', data, '--json'], { home });
  expect(JSON.parse(stdout)).toEqual([
    {
      ...{ at: expect.stringMatching(/^20.*Z$/), level: 'info', message: 'Started in the background.' },
      ...{ url: started.stdout.trim(), pid: expect.any(Number), version: expect.any(String), data },
    },
  ]);
  expect((await regen(['serve', 'logs', '--json'], { home })).stdout).toBe('[]\n');
});

test.each([
  ['own', 'http://127.0.0.1:1', /--profile own-(\d+) --base-url http:\/\/127\.0\.0\.1:\1 /],
  ['other', 'http://127.0.0.1:1', /--profile own --base-url http:\/\/127\.0\.0\.1:\d+ /],
])('serve says how to sign in as its owner, where there is a profile %s', async (name, url, said) => {
  const home = homeForTest();
  await regen(['config', 'set', `profiles.${name}.base_url`, url], { home });
  const served = startRegen(['serve', '--port', '0', '--data', folderForTest()], { home });
  await Promise.race([waitFor(() => expect(served.said()).toMatch(said)), served.ended]);
  served.child.kill('SIGTERM');
  expect((await served.ended).stderr).toMatch(said);
});

test('serve on an address of another machine fails with a message', async () => {
  const { exit, stderr } = await startRegen(['serve', '--host', '192.0.2.1', '--port', '0']).ended;
  expect(exit).toBe(2);
  expect(stderr).toContain('This machine does not have the address: 192.0.2.1.');
});

test.each(['regen', 'magnific', 'freepik', 'vidu'])(
  'serve vendor prints the profile of %s, which a configuration takes as a file',
  async (name) => {
    const { exit, stdout } = await regen(['serve', 'vendor', name]);
    expect(exit).toBe(0);
    const folder = folderForTest();
    writeFileSync(join(folder, 'mine.json'), stdout);
    writeFileSync(join(folder, 'vendor.key'), 'secret');
    const kind = name === 'vidu' ? 'video' : 'image';
    writeFileSync(
      join(folder, 'regen.toml'),
      `[generation.${kind}]\nengine = "upstream"\nvendor = "./mine.json"\nbaseUrl = "https://vendor.example"\nkey = { file = "${folder}/vendor.key" }\n`,
    );
    const checked = await regen(['serve', '--check', '--config', join(folder, 'regen.toml')]);
    expect(checked.exit, checked.stderr).toBe(0);
  },
);

test('serve vendor names the profile that a misspelled name means', async () => {
  const { exit, stderr } = await regen(['serve', 'vendor', 'magnifik']);
  expect([exit, stderr]).toEqual([
    2,
    expect.stringContaining("There is no vendor profile named 'magnifik' (did you mean magnific?)."),
  ]);
});

test('serve vendor lists the profiles if there is none of a name', async () => {
  const { exit, stderr } = await regen(['serve', 'vendor', 'constructor']);
  expect(exit).toBe(2);
  expect(stderr).toContain('Use one of regen, magnific, freepik, vidu, ');
});

test('serve --check names each fault of a profile', async () => {
  const folder = folderForTest();
  const config = join(folder, 'regen.toml');
  writeFileSync(
    join(folder, 'mine.json'),
    '{"extends":"vidu","tasks":{},"operations":{"video.extend":[{"post":"x"}]}}',
  );
  writeFileSync(
    config,
    '[generation.video]\nengine = "upstream"\nvendor = "./mine.json"\nkey = { env = "VIDU_KEY" }\n',
  );
  const { exit, stdout, stderr } = await regen(['serve', '--check', '--config', config, '--json']);
  expect(exit, stdout).toBe(2);
  const { details } = JSON.parse(stderr).error;
  expect(details.map(({ path }: { path: string }) => path)).toEqual([
    join(folder, 'mine.json, operations."video.extend".0.post'),
    join(folder, 'mine.json, tasks'),
    'generation.video.key',
  ]);
});
