import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { homeForTest, type Ran, regen, type Surroundings, startRegen } from '../support/cli.js';
import { filesForTest, packForTest } from '../support/packs.js';
import { publisherForTest, registerVersion, serviceForTest } from '../support/service.js';
import { waitFor } from '../support/wait-for.js';

/** What a command loaded: files of dist and of packages, their size, and modules of Node.js. */
interface Loaded {
  readonly files: readonly string[];
  readonly bytes: number;
  readonly parts: readonly string[];
  /** Modules of Node.js after the first change of the engine's flags, which Node.js compiles again. */
  readonly late: readonly string[];
}

/** Runs the built program and lists what it loaded. */
async function runAndList(argv: readonly string[], surroundings: Surroundings = {}): Promise<Ran & Loaded> {
  const env = { ...surroundings.env, NODE_OPTIONS: '--require ./test/support/report-loaded.cjs' };
  const ran = await startRegen(argv, { ...surroundings, env }).ended;
  const [stderr = '', report = '{}'] = ran.stderr.split('\nloaded ');
  const { files, bytes, parts, late } = JSON.parse(report) as Loaded;
  // The hashes of the names change with every edit.
  const names = files.map((path) => relative('.', path).replace(/-[\w-]{8}\.cjs$/, '.cjs'));
  return { ...ran, stderr, files: names, bytes, parts, late };
}

const HELP = ['bin/regen.js', 'dist/cli.cjs', 'dist/chunks/start.cjs'];

test.each([
  [['--version']],
  [['--help']],
  [['image', 'relight', '--help']],
  [['help', 'version', 'publish']],
])('%j loads three small files and no network', async (argv) => {
  const { exit, stdout, files, bytes, parts } = await runAndList(argv);
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^(Usage: regen|Publish node packs|\d+\.\d+\.\d+\n$)/);
  expect(files).toEqual(HELP);
  expect(bytes).toBeLessThan(20_000);
  expect(parts.filter((name) => /^(http|crypto|v8|child_process|timers\/promises)$/.test(name))).toEqual([]);
});

test('a command with one request loads seven files, and neither schemas nor all of undici', async () => {
  const service = await serviceForTest();
  await registerVersion(await publisherForTest(service), '1.0.0');
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const { exit, stdout, files, bytes, parts } = await runAndList(['node', 'get', 'pack', '--json'], { env });
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ id: 'pack' });
  const chunks = ['rolldown-runtime', 'connect', 'command', 'http'].map((name) => `dist/chunks/${name}.cjs`);
  expect(files.toSorted()).toEqual([...HELP, ...chunks].toSorted());
  expect(bytes).toBeLessThan(406_500);
  expect(parts.filter((name) => /^(child_process|readline|tls|http2|inspector)$/.test(name))).toEqual([]);
});

test('a publish loads neither schemas nor what reads archives or publishes several folders', async () => {
  const service = await serviceForTest();
  const { ownerToken, personalAccessToken } = await publisherForTest(service);
  const env = {
    REGEN_BASE_URL: service.url,
    REGEN_TOKEN: ownerToken,
    REGEN_PUBLISH_TOKEN: personalAccessToken,
  };
  const argv = ['version', 'publish', packForTest(), '--no-wait'];
  const { exit, stderr, files, bytes } = await runAndList(argv, { env });
  expect({ exit, stderr }).toMatchObject({ exit: 0 });
  for (const chunk of ['contract', 'schemas', 'json-schema-processors', 'read-archive', 'many', 'request'])
    expect(files).not.toContain(`dist/chunks/${chunk}.cjs`);
  expect(bytes).toBeLessThan(594_500);
});

test('an agent gets its first answer without the contract and the network', async () => {
  const request = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
  const { exit, stdout, files, bytes } = await runAndList(['mcp'], { stdin: `${JSON.stringify(request)}\n` });
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } });
  expect(files).toContain('dist/chunks/mcp.cjs');
  for (const chunk of ['contract', 'schemas', 'folder-tools', 'http', 'spending-key'])
    expect(files).not.toContain(`dist/chunks/${chunk}.cjs`);
  expect(bytes).toBeLessThan(297_000);
});

test('a completion of words loads four small files and no network', async () => {
  const request = ['__complete', '--current=--pub', '--', 'version', 'publish'];
  const { exit, stdout, files, bytes, parts } = await runAndList(request);
  expect(exit).toBe(0);
  expect(stdout).toContain('--publisher\t');
  expect(files).toEqual([...HELP, 'dist/chunks/answer.cjs']);
  expect(bytes).toBeLessThan(27_400);
  expect(parts.filter((name) => /^(http|crypto|v8|child_process|timers\/promises)$/.test(name))).toEqual([]);
});

test('a completion of live ids loads what sends requests, but no parser of commands', async () => {
  const service = await serviceForTest();
  await registerVersion(await publisherForTest(service), '1.0.0');
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const request = ['__complete', '--current=', '--', 'version', 'get', 'pack'];
  const { exit, files, bytes } = await runAndList(request, { env });
  expect(exit).toBe(0);
  const chunks = ['answer', 'rolldown-runtime', 'connect', 'http'].map((name) => `dist/chunks/${name}.cjs`);
  expect(files.toSorted()).toEqual([...HELP, ...chunks].toSorted());
  expect(bytes).toBeLessThan(299_500);
});

test('the contract is loaded only to explain an invalid request', async () => {
  const env = { REGEN_BASE_URL: 'http://127.0.0.1:9' };
  const { exit, stderr, files } = await runAndList(['node', 'get', 'x'.repeat(2000)], { env });
  expect({ exit, stderr }).toEqual({
    exit: 2,
    stderr: 'error: <nodeId> must have at most 1024 characters.\n',
  });
  expect(files).toContain('dist/chunks/contract.cjs');
});

test('a command loads the modules of Node.js that it needs before it tunes the engine', async () => {
  const service = await serviceForTest();
  await registerVersion(await publisherForTest(service), '1.0.0');
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const packing = ['version', 'pack', packForTest(), '-o', join(homeForTest(), 'pack.zip')];
  for (const argv of [['node', 'get', 'pack', '--json'], packing]) {
    const { exit, late } = await runAndList(argv, { env });
    expect(exit).toBe(0);
    expect(late.filter((name) => /^(http|net|crypto|zlib|child_process|fs\/promises)$/.test(name))).toEqual(
      [],
    );
  }
});

test('the service loads the modules of Node.js that it needs before it tunes the engine', async () => {
  const data = join(homeForTest(), 'data');
  const env = { NODE_OPTIONS: '--require ./test/support/report-loaded.cjs' };
  const running = startRegen(['serve', '--port', '0', '--data', data], { env });
  onTestFinished(() => void running.child.kill());
  await waitFor(() => expect(existsSync(join(data, 'service.json'))).toBe(true));
  await regen(['serve', 'stop', '--data', data]);
  const { late } = JSON.parse((await running.ended).stderr.split('\nloaded ')[1] ?? '') as Loaded;
  expect(late.filter((name) => /^(http|https|dns|assert|net|zlib|stream\/consumers)$/.test(name))).toEqual(
    [],
  );
});

test('the proof of the embedded service and the request after it share a connection', async () => {
  const home = homeForTest();
  const data = join(home, '.local/share/regen');
  mkdirSync(data, { recursive: true });
  const socket = join(data, 'socket');
  const paths: (string | undefined)[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    paths.push(request.url);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'pack', instance: 'one' }));
  }).on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((done) => server.listen(socket, done));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const record = { url: 'http://127.0.0.1:9', socket, pid: process.pid, version: '1.0.0', instance: 'one' };
  writeFileSync(join(data, 'service.json'), JSON.stringify(record), { mode: 0o600 });
  writeFileSync(join(data, 'owner.token'), 'secret', { mode: 0o600 });
  const { exit, stdout } = await regen(['node', 'get', 'pack', '--json'], { home });
  expect({ exit, id: JSON.parse(stdout).id }).toEqual({ exit: 0, id: 'pack' });
  expect({ paths, connections }).toEqual({
    paths: ['/.well-known/regen-owner', '/nodes/pack'],
    connections: 1,
  });
});

/** What a built program imports at its start: the sources of its file and of the chunks below it. */
function readImports(path: string, seen = new Map<string, string>()): Map<string, string> {
  if (seen.has(path)) return seen;
  const source = readFileSync(path, 'utf8');
  seen.set(path, source);
  for (const [, file] of source.matchAll(/^(?:import|export)[^;"]*"(\.\/[^"]+)"/gm))
    readImports(join(dirname(path), file as string), seen);
  return seen;
}

test.each([
  ['service-start.cjs', /class EventSource|class ComfyUiHost|class Vendor |x-magnific-api-key/, 1_375_000],
  ['image-worker.js', /_zod/, 60_000],
  ['pack-reader.cjs', /_zod/, 208_000],
])('%s starts without modules that only some tasks need', (name, unwanted, maxBytes) => {
  const sources = [...readImports(join('dist', name)).values()];
  expect(sources.filter((source) => unwanted.test(source))).toEqual([]);
  expect(sources.join('').length).toBeLessThan(maxBytes);
});

test('the reader of packs loads no module of Node.js that its limits make Node.js compile again', () => {
  const folder = filesForTest({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}' });
  const files = [{ path: '__init__.py', absolute: join(folder, '__init__.py'), size: 24 }];
  const task = { kind: 'code', files, reading: { follow: true, unread: {} } };
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--require', './test/support/report-loaded.cjs', 'dist/pack-reader.cjs'],
    { input: `${JSON.stringify(task)}\n`, encoding: 'utf8' },
  );
  expect(stdout).toContain('"followed":true');
  const { parts } = JSON.parse(stderr.split('\nloaded ')[1] ?? '') as Loaded;
  expect(parts.filter((name) => /^(stream|zlib|readline|net|crypto|fs\/promises)$/.test(name))).toEqual([]);
});
