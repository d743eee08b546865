import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildBody, parseFields } from '../../../src/cli/api/fields.js';
import { regen } from '../../support/cli.js';
import { filesForTest } from '../../support/packs.js';
import { serviceForTest } from '../../support/service.js';

interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

/** A service that answers everything alike and remembers what it heard. */
async function startListener(answer: { status?: number; type?: string; body?: string } = {}) {
  const received: Heard[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    received.push({
      method: request.method as string,
      url: request.url as string,
      headers: request.headers,
      body,
    });
    response.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? 'application/json' });
    response.end(answer.body ?? '{ "a":1 }');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const env = {
    REGEN_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    REGEN_TOKEN: 'tok-1',
  };
  return { received, env };
}

test('sends a read with the credential in use and prints the answer byte for byte', async () => {
  const { received, env } = await startListener({ body: '{ "a":1,\n "b":"é" }' });
  const { exit, stdout, stderr } = await regen(
    ['api', 'GET', '/nodes', '-F', 'search=light', '-F', 'tag[]=a', '-F', 'tag[]=b'],
    { env },
  );
  expect({ exit, stdout, stderr }).toEqual({ exit: 0, stdout: '{ "a":1,\n "b":"é" }', stderr: '' });
  expect(received[0]).toMatchObject({ method: 'GET', url: '/nodes?search=light&tag=a&tag=b', body: '' });
  expect(received[0]?.headers.authorization).toBe('Bearer tok-1');
});

test('fields build a JSON body: typed, raw, nested, listed and from files', async () => {
  const { received, env } = await startListener();
  const cwd = filesForTest({ 'notes.txt': 'two\nlines\n' });
  const typed = [
    'n=3',
    'pi=1.5',
    'yes=true',
    'none=null',
    'id=007',
    'text=@notes.txt',
    'in=@-',
    'o[a][b]=1',
    'l[]=1',
    'l[]=x',
  ];
  const argv = [
    'api',
    '/x',
    ...typed.flatMap((field) => ['-F', field]),
    '-f',
    'raw=true',
    '-f',
    '__proto__=p',
  ];
  const { exit } = await regen(argv, { env, cwd, stdin: 'piped' });
  expect(exit).toBe(0);
  expect(received[0]?.method).toBe('POST');
  expect(received[0]?.headers['content-type']).toBe('application/json');
  expect(received[0]?.body).toBe(
    JSON.stringify({
      n: 3,
      pi: 1.5,
      yes: true,
      none: null,
      id: '007',
      text: 'two\nlines\n',
      in: 'piped',
      o: { a: { b: 1 } },
      l: [1, 'x'],
      raw: 'true',
    }).replace(/\}$/, ',"__proto__":"p"}'),
  );
});

test.each([
  [
    'a whole body as it is',
    ['api', 'put', '/x', '--body', '{"a":1.0}', '-F', 'dry=1'],
    { method: 'PUT', url: '/x?dry=1', body: '{"a":1.0}' },
  ],
  ['a body from standard input', ['api', '/x', '--body', '-'], { method: 'POST', url: '/x', body: '[1]' }],
  [
    'a body of another type',
    ['api', '/x', '--body', 'plain', '-H', 'Content-Type: text/plain'],
    { method: 'POST', url: '/x', body: 'plain' },
  ],
])('sends %s', async (_, argv, expected) => {
  const { received, env } = await startListener();
  expect((await regen(argv, { env, stdin: '[1]' })).exit).toBe(0);
  expect(received).toMatchObject([expected]);
});

test('prints status and headers first when asked', async () => {
  const { env } = await startListener({ body: 'x', type: 'text/plain' });
  const { stdout } = await regen(['api', '/x', '--include'], { env });
  expect(stdout).toMatch(/^HTTP\/1\.1 200\n(?:.+\n)*content-type: text\/plain\n(?:.+\n)*\nx$/);
});

test('an error response is printed too, and its code chooses the exit code', async () => {
  const body = '{"error":"version_exists","message":"Version 1.0.0 exists."}';
  const { env } = await startListener({ status: 400, body });
  const { exit, stdout, stderr } = await regen(['api', '/x', '-F', 'a=1'], { env });
  expect({ exit, stdout, stderr }).toEqual({
    exit: 5,
    stdout: body,
    stderr: 'error: Version 1.0.0 exists.\n',
  });
});

test.each([
  [404, 3],
  [403, 4],
  [418, 2],
])('without an error code, the status %i chooses the exit code', async (status, code) => {
  const { env } = await startListener({ status, type: 'text/html', body: '<html>' });
  const { exit, stdout } = await regen(['api', '/x'], { env });
  expect([exit, stdout]).toEqual([code, '<html>']);
});

// None of them answers this request: that is not the fault of the command.
test.each([
  ['HTTP/1.1 304 Not Modified\r\n\r\n'],
  ['HTTP/1.1 300 Multiple Choices\r\ncontent-length: 0\r\n\r\n'],
  ['HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n'],
  ['HTTP/1.1 204 No Content\r\n\r\n'],
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ['HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
  ['HTTP/1.1 103 Early Hints\r\n\r\n'],
  ['HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n'],
])('ends with 7 for an answer outside the contract: %j', async (head) => {
  const server = createSocketServer((socket) =>
    socket.on('error', () => {}).once('data', () => socket.end(head)),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const env = { REGEN_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const { exit, stderr } = await regen(['node', 'get', 'x'], { env });
  expect(exit, stderr).toBe(7);
});

test('a terminal gets indented JSON without control characters, and no raw bytes', async () => {
  const { env } = await startListener({ body: '{"a":"\\u001b[31mred","b":"\u009b31m"}' });
  const { stdout } = await regen(['api', '/x'], { env, terminal: true });
  expect(stdout).toContain('{\n  "a": ');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  expect(stdout).not.toMatch(/[\u001b\u009b]/);
  const { env: binary } = await startListener({ type: 'application/zip', body: 'PK\u0003' });
  const refused = await regen(['api', '/x'], { env: binary, terminal: true });
  expect(refused).toMatchObject({ exit: 2, stdout: '' });
  expect(refused.stderr).toContain('Redirect it to a file');
});

test.each([
  ['two readers of standard input', ['api', '/x', '-F', 'a=@-', '--body', '-'], /only once/],
  ['a field without =', ['api', '/x', '-F', 'oops'], /Invalid field 'oops'/],
  ['a field given twice', ['api', '/x', '-F', 'a=1', '-F', 'a=2'], /a is given twice/],
  ['a field that is a list and an object', ['api', '/x', '-F', 'a[]=1', '-F', 'a[b]=2'], /at the same time/],
  ['a body that is not JSON', ['api', '/x', '--body', '{'], /not valid JSON/],
  ['no path', ['api'], /No path/],
  ['another service', ['api', 'https://evil.example/x'], /that the credential belongs to/],
  ['a credential in a header', ['api', '/x', '-H', 'Authorization: Bearer s3cret'], /visible to other users/],
  ['a token in a field', ['api', '/x', '-f', 'personal_access_token=s3cret'], /visible to other users/],
])('refuses %s and sends nothing', async (_, argv, message) => {
  const { received, env } = await startListener();
  const { exit, stderr } = await regen(argv, { env });
  expect(exit).toBe(2);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('s3cret');
  expect(received).toEqual([]);
});

test('prints the request instead of sending it, secrets masked', async () => {
  const { received, env } = await startListener();
  const cwd = filesForTest({});
  writeFileSync(join(cwd, 'pat'), 's3cret');
  const argv = ['api', 'POST', '/x', '-F', 'personal_access_token=@pat', '-F', 'n=1', '--dry-run'];
  const { exit, stdout } = await regen(argv, { env, cwd });
  expect(exit).toBe(0);
  expect(stdout).toBe(`POST ${env.REGEN_BASE_URL}/x\n{\n  "personal_access_token": "***",\n  "n": 1\n}\n`);
  expect(received).toEqual([]);
});

test('with a token but without a service, reads may use the embedded service and changes may not', async () => {
  const env = { REGEN_TOKEN: 'tok-1' };
  const change = await regen(['api', 'DELETE', '/x'], { env });
  expect(change.exit).toBe(2);
  expect(change.stderr).toContain('REGEN_BASE_URL');
  // Starting the embedded service is turned off here.
  expect((await regen(['api', '/x'], { env })).exit).toBe(7);
});

test('a change on a real service prints the location of the result', async () => {
  const { url, ownerToken } = await serviceForTest();
  const env = { REGEN_BASE_URL: url, REGEN_TOKEN: ownerToken };
  const made = await regen(['api', '/publishers', '-f', 'id=acme', '-f', 'name=Acme'], { env });
  expect(made).toMatchObject({ exit: 0, stderr: `Done on ${url}.\n` });
  expect(JSON.parse(made.stdout)).toMatchObject({ id: 'acme', name: 'Acme' });
  const again = await regen(['api', '/publishers', '-f', 'id=acme', '-f', 'name=Acme'], { env });
  expect(again.exit).toBe(5);
  expect(JSON.parse(again.stdout).error).toBe('duplicate_publisher');
});

test('reads all pages as one, and filters answers with --jq', async () => {
  const service = await serviceForTest();
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  await regen(['publisher', 'create', 'acme', '--name', 'Acme'], { env });
  for (const id of ['one', 'two', 'three'])
    await regen(['node', 'create', 'acme', '--id', id, '--name', id], { env });
  const list = ['api', '/publishers/acme/nodes/v2', '-F', 'limit=1'];
  expect((await regen([...list, '--jq', '.nodes[].id'], { env })).stdout.trim().split('\n')).toHaveLength(1);
  const { exit, stdout, stderr } = await regen([...list, '--paginate'], { env });
  expect(exit, stderr).toBe(0);
  const page = JSON.parse(stdout);
  expect(page.nodes.map(({ id }: { id: string }) => id).sort()).toEqual(['one', 'three', 'two']);
  expect(page).toMatchObject({ total: 3, totalPages: 1 });
  const versions = await regen(['api', '/users/publishers', '--paginate', '--jq', '.[].id'], { env });
  expect(versions.stdout).toBe('acme\n');
  expect((await regen(['api', 'POST', '/x', '--paginate'], { env })).exit).toBe(2);
});

test('fields of api build lists of objects', async () => {
  const build = async (...typed: string[]) => buildBody(await parseFields(typed, [], async () => ''));
  expect(await build('a[][b]=1', 'a[][c]=x', 'a[][b]=2')).toEqual({ a: [{ b: 1, c: 'x' }, { b: 2 }] });
  expect(await build('a[][tags][]=1', 'a[][tags][]=2', 'a[][id]=x')).toEqual({
    a: [{ tags: [1, 2], id: 'x' }],
  });
  expect(await build('a[][b][c]=1', 'a[][b][d]=2', 'a[][b][c]=3')).toEqual({
    a: [{ b: { c: 1, d: 2 } }, { b: { c: 3 } }],
  });
  await expect(build('a=1', 'a[][b]=2')).rejects.toThrow('cannot be a value');
});
