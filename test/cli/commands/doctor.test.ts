import { chmodSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkClock } from '../../../src/cli/doctor/service.js';
import { homeForTest, regen, type Surroundings } from '../../support/cli.js';
import { filesForTest } from '../../support/packs.js';
import { serviceForTest } from '../../support/service.js';

interface Row {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
  readonly advice?: string;
}

async function runDoctor(surroundings: Surroundings, ...argv: string[]) {
  const { exit, stdout, stderr } = await regen(['doctor', '--json', ...argv], surroundings);
  const rows = stdout ? (JSON.parse(stdout) as Row[]) : [];
  return { exit, stdout, stderr, of: (check: string) => rows.find((row) => row.check === check) as Row };
}

test('finds nothing wrong with a service that knows who this is', async () => {
  const { url, ownerToken } = await serviceForTest();
  const { exit, of, stdout } = await runDoctor({ env: { REGEN_BASE_URL: url, REGEN_TOKEN: ownerToken } });
  expect(exit, stdout).toBe(0);
  expect(of('program').detail).toMatch(/^regen \d.* on Node \d/);
  expect(of('service')).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining(`${url} (from REGEN_BASE_URL) responds, ready, API version`),
  });
  expect(of('clock')).toMatchObject({ status: 'ok', detail: 'in sync with the service' });
  expect(of('credential')).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('from REGEN_TOKEN'),
  });
  expect(stdout).not.toContain(ownerToken);
});

test('does not start the embedded service, whose absence is not a finding', async () => {
  const home = homeForTest();
  const { exit, of } = await runDoctor({ home, env: { REGEN_NO_AUTOSTART: '' } });
  expect(exit).toBe(0);
  expect(of('service')).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('the first command starts it'),
  });
  const off = await runDoctor({ home });
  expect(off.exit).toBe(0);
  expect(off.of('service')).toMatchObject({ status: 'warn', advice: 'Start it with: regen serve --detach' });
});

test('ends 7 where nothing answers, and still reports the rest', async () => {
  const { exit, of } = await runDoctor({ env: { REGEN_BASE_URL: 'http://127.0.0.1:9', REGEN_TOKEN: 'x' } });
  expect(exit).toBe(7);
  expect(of('service')).toMatchObject({ status: 'fail', advice: expect.stringContaining('REGEN_BASE_URL') });
  expect(of('terminal').status).toBe('ok');
});

test('ends 4 where the credential is refused, and warns where there is none', async () => {
  const { url } = await serviceForTest();
  const refused = await runDoctor({ env: { REGEN_BASE_URL: url, REGEN_TOKEN: 'wrong' } });
  expect(refused.exit).toBe(4);
  expect(refused.of('credential')).toMatchObject({
    status: 'fail',
    advice: expect.stringContaining('auth login'),
  });
  const none = await runDoctor({ env: { REGEN_BASE_URL: url } });
  expect([none.exit, none.of('credential').status]).toEqual([0, 'warn']);
});

test('reports a service that runs but is not ready', async () => {
  const server = createServer((_, response) => response.writeHead(503).end('{}'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { exit, of } = await runDoctor({ env: { REGEN_BASE_URL: url } });
  expect([exit, of('service').status]).toEqual([7, 'fail']);
  expect(of('service').detail).toContain('not ready');
});

test('does not mistake another web server for the service', async () => {
  const server = createServer((_, response) => response.writeHead(200).end('<h1>It works</h1>'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { exit, of } = await runDoctor({ env: { REGEN_BASE_URL: url } });
  expect([exit, of('service').status]).toEqual([7, 'fail']);
  expect(of('service')).toMatchObject({
    detail: expect.stringContaining('not like a registry'),
    advice: expect.stringContaining('another program is listening there'),
  });
});

test('accepts a registry without our extensions', async () => {
  const server = createServer(({ url }, response) =>
    url?.startsWith('/nodes') ? response.end('{"nodes":[]}') : response.writeHead(404).end('{}'),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect((await runDoctor({ env: { REGEN_BASE_URL: url } })).of('service').status).toBe('ok');
});

test('blames a proxy that is not there, not the service behind it', async () => {
  const env = { REGEN_BASE_URL: 'http://registry.example', HTTP_PROXY: 'http://127.0.0.1:9' };
  const { exit, of } = await runDoctor({ env });
  expect(exit).toBe(7);
  expect(of('service')).toMatchObject({
    detail: expect.stringContaining('The proxy http://127.0.0.1:9'),
    advice: expect.stringContaining('NO_PROXY'),
  });
});

test('names the service in the commands of its advice, in a pipe, too', async () => {
  const service = await serviceForTest();
  const home = homeForTest();
  await regen(['config', 'set', 'profiles.team.base_url', service.url], { home });
  for (const mode of [[], ['--json']]) {
    const { stdout } = await regen(['doctor', '--profile', 'team', ...mode], { home });
    expect(stdout).toContain('regen auth login --profile team --with-token < token.txt');
  }
});

test('warns of a clock more than a minute off', () => {
  const now = Date.parse('2026-01-01T00:05:00Z');
  expect(checkClock('Thu, 01 Jan 2026 00:04:01 GMT', now).status).toBe('ok');
  expect(checkClock('Thu, 01 Jan 2026 00:00:00 GMT', now)).toMatchObject({
    status: 'warn',
    detail: '300 s ahead of the service',
  });
  expect(checkClock('Thu, 01 Jan 2026 00:06:30 GMT', now).detail).toBe('90 s behind the service');
  expect(checkClock(undefined, now).status).toBe('ok');
});

test('shows proxies without their passwords, and those that cannot work', async () => {
  const env = { HTTPS_PROXY: 'http://me:s3cret@proxy.example:3128', http_proxy: 'ftp://proxy.example' };
  const { of, stdout } = await runDoctor({ env });
  expect(of('proxy')).toMatchObject({
    status: 'warn',
    advice: 'Set http_proxy to an address such as http://host:port.',
  });
  expect(of('proxy').detail).toContain('http://***@proxy.example:3128');
  expect(stdout).not.toContain('s3cret');
});

test('reports problems of folders and settings', async () => {
  const home = filesForTest(
    { '.local/state': 'a file', '.config/regen/config.json': '{"ca_file":"/nowhere.pem"}' },
    homeForTest(),
  );
  mkdirSync(join(home, '.local', 'share', 'regen'), { recursive: true });
  chmodSync(join(home, '.local', 'share', 'regen'), 0o777);
  const { exit, of } = await runDoctor({ home });
  expect(exit).toBe(2);
  expect(of('settings')).toMatchObject({ status: 'fail', detail: expect.stringContaining('/nowhere.pem') });
  expect(of('data')).toMatchObject({ status: 'warn', advice: expect.stringContaining('chmod') });
  expect(of('state')).toMatchObject({ status: 'fail', advice: 'Move or rename the file.' });
});

test('reports an unknown profile as a finding, not as a crash', async () => {
  const { exit, of } = await runDoctor({}, '--profile', 'nowhere');
  expect(exit).toBe(2);
  expect(of('service')).toMatchObject({
    status: 'fail',
    advice: expect.stringContaining('regen config set'),
  });
});
