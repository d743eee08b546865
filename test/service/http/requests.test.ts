import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { contract } from '../../../src/contract/index.js';
import { listOperations } from '../../../src/contract/operation.js';
import { toJsonSchema } from '../../../src/contract/schema/json-schema.js';
import { publishBody, registryForFile } from '../../support/registry.js';
import { ask } from '../../support/service.js';

const registry = registryForFile({ limits: { jsonBody: 100_000 } });
const roomy = registryForFile();

/** Sends raw text. @returns the whole answer */
function sendRaw(text: string): Promise<string> {
  const { hostname, port } = new URL(registry().url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

function parseBody(answer: string): { error: string; message: string } {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
}

describe('every answer', () => {
  // What chooses between schemas is left out of the build: see scripts/bundle.ts.
  it('has one schema', () => {
    for (const [name, { response }] of listOperations(contract)) {
      const schema = response ? JSON.stringify(toJsonSchema(response, 'output')) : '';
      expect(schema, name).not.toMatch(/"(anyOf|oneOf|allOf|if)":/);
    }
  });

  it('has its own request id and the security headers for browsers', async () => {
    const [first, second] = [
      await registry().as('guest', 'GET', '/health'),
      await registry().as('guest', 'GET', '/nowhere'),
    ];
    for (const { headers } of [first, second]) {
      expect(headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
    }
    expect(first.headers.get('x-request-id')).not.toBe(second.headers.get('x-request-id'));
  });
});

describe('a request that the service cannot route or read', () => {
  const broken: [title: string, method: string, path: string, init: object, status: number, code: string][] =
    [
      ['an unknown path', 'GET', '/nowhere', {}, 404, 'not_found'],
      [
        'an unknown path with a broken body',
        'POST',
        '/nowhere',
        { json: undefined, body: '{' },
        404,
        'not_found',
      ],
      ['broken percent-encoding in the path', 'GET', '/nodes/%zz', {}, 400, 'invalid_request'],
      ['broken percent-encoding in the query', 'GET', '/nodes?search=%zz', {}, 400, 'invalid_request'],
      ['an overlong UTF-8 path', 'GET', '/nodes/%c0%ae', {}, 400, 'invalid_request'],
      ['a climbing id', 'GET', '/nodes/..%2fx', {}, 404, 'not_found'],
      ['a NUL in the path', 'GET', '/nodes/a%00b', {}, 400, 'invalid_request'],
      ['a NUL in the query', 'GET', '/nodes?search=a%00b', {}, 400, 'invalid_request'],
      [
        'a path parameter of 2000 characters',
        'GET',
        `/nodes/${'a'.repeat(2000)}`,
        {},
        400,
        'invalid_request',
      ],
      ['a path parameter of 1024 characters', 'GET', `/nodes/${'a'.repeat(1024)}`, {}, 404, 'not_found'],
      ['a page that is no number', 'GET', '/nodes?page=1e3', {}, 400, 'invalid_request'],
      ['a page given twice', 'GET', '/nodes?page=1&page=2', {}, 400, 'invalid_request'],
      ['a page below 1', 'GET', '/nodes?page=0', {}, 400, 'invalid_request'],
      ['a limit above 100', 'GET', '/nodes?limit=101', {}, 400, 'invalid_request'],
      ['a status there is not', 'GET', '/nodes/x/versions?statuses=Nice', {}, 400, 'invalid_request'],
    ];
  it.each(broken)('answers %s with an error of its own', async (_title, method, path, init, status, code) => {
    const answer = await ask(registry().url + path, { method, ...init });
    expect([answer.status, answer.body.error]).toEqual([status, code]);
    expect(answer.body.message).toMatch(/\S/);
  });

  it.each([
    ['/nodes?serch=x', 'serch', 'did you mean search?'],
    ['/nodes?form_factor=x', 'form_factor', 'known are page, limit, search'],
    ['/publishers/acme?limit=1', 'limit', 'this operation has none'],
  ])('refuses the unknown query parameter of %s', async (path, name, help) => {
    const { status, body } = await registry().as('guest', 'GET', path);
    expect([status, body.error, body.details[0].path]).toEqual([400, 'invalid_request', name]);
    expect(body.message).toContain(help);
  });

  it('may ask for pages beyond the last', async () => {
    const { body } = await registry().as('guest', 'GET', '/nodes?page=100&limit=100');
    expect(body.nodes).toEqual([]);
  });

  it('may not ask for pages that take long to reach', async () => {
    for (const page of [101, Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await registry().as('guest', 'GET', `/nodes?page=${page}&limit=100`);
      expect([status, body.message]).toEqual([
        400,
        'page must end within the first 10000 items; use a filter to reach the others.',
      ]);
    }
  });

  it('lists the methods of a path', async () => {
    const { status, body, headers } = await registry().as('guest', 'PATCH', '/publishers/acme');
    expect([status, body.error, headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      'DELETE, GET, HEAD, PUT',
    ]);
    const head = await registry().as('guest', 'HEAD', '/nodes/x/install');
    expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET']);
  });
});

describe('a body', () => {
  const path = '/publishers';
  const send = (body: string | Buffer<ArrayBuffer>, type: string | undefined) =>
    ask(registry().url + path, {
      method: 'POST',
      token: registry().tokens.ann,
      headers: type ? { 'content-type': type } : {},
      body,
    });

  it.each([
    ['{"id":', 'application/json', 400, 'malformed_json'],
    [Buffer.from([0x22, 0xff, 0x22]), 'application/json', 400, 'malformed_json'],
    ['id=x', 'application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
    ['{}', 'text/html', 415, 'unsupported_media_type'],
    ['{}', 'json', 415, 'unsupported_media_type'],
    [`{"x":"${'a'.repeat(200_000)}"}`, 'application/json', 413, 'too_large'],
    ['', 'application/json', 400, 'invalid_request'],
    ['', 'application/x-www-form-urlencoded', 400, 'invalid_request'],
    ['[]', 'application/json; charset=utf-8', 400, 'invalid_request'],
    ['null', 'application/json', 400, 'invalid_request'],
    ['{"id":"a\\u0000bc","name":"x"}', 'application/json', 400, 'invalid_request'],
    ['{"id":"abc","name":"\\ud800"}', 'application/json', 400, 'invalid_request'],
    ['{"id":"abc","name":"x","\\ud800":1}', 'application/json', 400, 'invalid_request'],
    ['{"id":"abc","name":"x","__proto__":{}}', 'application/json', 400, 'invalid_request'],
    ['['.repeat(90_000), 'application/json', 400, 'invalid_request'],
    ['['.repeat(45_000) + ']'.repeat(45_000), 'application/json', 400, 'invalid_request'],
  ])('%# with type %s is refused with %i', async (body, type, status, code) => {
    const answer = await send(body as string, type);
    expect([answer.status, answer.body.error]).toEqual([status, code]);
  });

  it('has all its problems reported at once, each with its path', async () => {
    const { as, tokens } = registry();
    const body = { ...publishBody(tokens.pat, '1.0'), node: { name: 7, tags: ['a', 1], id: '-' } };
    const answer = await as('ann', 'POST', '/publishers/acme/nodes/pack/versions', body);
    const paths = answer.body.details.map(({ path }: { path: string }) => path).sort();
    expect([answer.status, paths]).toEqual([
      400,
      ['node.id', 'node.name', 'node.tags.1', 'node_version.version'],
    ]);
    expect(answer.body.message).toContain('and 1 more');
  });

  it('is refused if a field contains NUL, without quoting a long text', async () => {
    const { as } = registry();
    const nul = await as('ann', 'POST', path, { id: 'abc', name: 'a\0b' });
    expect(nul.body.details[0].path).toBe('name');
    const long = await as('ann', 'POST', '/bulk/nodes/versions', {
      node_versions: [],
      ['k'.repeat(50_000)]: 1,
    });
    expect(long.status).toBe(400);
    expect(JSON.stringify(long.body).length).toBeLessThan(2_000);
  });
});

describe('a body of megabytes', () => {
  const many = 4_000_000;
  const publish = '/publishers/acme/nodes/long/versions';
  const version = (text: string) => publishBody(roomy().tokens.pat, text);
  const member = (email: string) => ({ email, role: 'member' });

  it.each<[title: string, path: string, body: () => object, status: number]>([
    ['a version of digits', publish, () => version('1'.repeat(many)), 400],
    ['a version of identifiers', publish, () => version(`1.0.0-${'a.'.repeat(many)}!`), 400],
    ['an address of domains', '/publishers/acme/members', () => member(`a@${'a.'.repeat(many)}`), 400],
    ['an id', '/publishers', () => ({ id: 'a-'.repeat(many), name: 'x' }), 400],
    ['a publisher name', '/publishers', () => ({ id: 'long', name: 'x'.repeat(many) }), 400],
    [
      'a changelog',
      publish,
      () => publishBody(roomy().tokens.pat, '1.0.0', { node_version: { changelog: 'x'.repeat(many) } }),
      400,
    ],
    [
      'wrong tags',
      '/publishers/acme/nodes',
      () => ({ id: 'x', name: 'x', tags: Array(90_000).fill(1) }),
      400,
    ],
    ['too many values', '/publishers/acme/nodes', () => ({ tags: Array(many).fill(1) }), 413],
  ])('is refused with a short answer if it has %s', async (_title, path, body, status) => {
    const answer = await roomy().as('ann', 'POST', path, body());
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(/\S/)]);
    expect(JSON.stringify(answer.body).length).toBeLessThan(10_000);
  });
});

describe('invalid HTTP', () => {
  it.each([
    ['a nonsense line', 'HELLO\r\n\r\n', 400],
    ['too many headers', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`, 413],
    [
      'two lengths',
      'POST /publishers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
    ],
    ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', 405],
    ['no host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', 403],
  ])('%s is answered with JSON', async (_title, text, status) => {
    const answer = await sendRaw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.toLowerCase()).toContain('x-request-id: ');
    expect(parseBody(answer).message).toMatch(/\S/);
  });

  it('with an unknown Expect header is answered', async () => {
    const answer = await sendRaw(
      'GET /health HTTP/1.1\r\nHost: localhost\r\nExpect: cake\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('a service on loopback', () => {
  const status = async (host: string) =>
    Number(
      (await sendRaw(`GET /health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).slice(9, 12),
    );

  it('accepts the names of loopback, with any port', async () => {
    for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:80', '127.9.9.9', '[::1]', '[::1]:7717']) {
      expect([host, await status(host)]).toEqual([host, 200]);
    }
  });

  it('refuses every other name, which a hostile page may resolve to it', async () => {
    for (const host of [
      'example.org',
      'localhost.example.org',
      '127.0.0.1.example.org',
      '10.0.0.1',
      '[::2]',
    ]) {
      expect([host, await status(host)]).toEqual([host, 403]);
    }
  });
});

describe('the paths beside the contract', () => {
  it('describe the interface and report that the service is healthy', async () => {
    const { ok } = registry();
    expect(await ok('guest', 'GET', '/health')).toEqual({ status: 'ok' });
    expect(await ok('guest', 'GET', '/ready')).toEqual({ status: 'ready' });
    const document = await ok('guest', 'GET', '/openapi.json');
    expect([document.openapi, document.servers]).toEqual(['3.1.0', [{ url: registry().url }]]);
    expect(document.paths['/nodes/{nodeId}'].get.operationId).toBe('node.get');
  });

  it('describe only what this service answers', async () => {
    const { paths } = await registry().ok('guest', 'GET', '/openapi.json');
    for (const [name, { method, path }] of listOperations(contract)) {
      const { status, body } = await registry().as('guest', method, path.replace(/[{}]/g, ''));
      const answered = status !== 404 || !body.message.startsWith('There is nothing at');
      expect(paths[path]?.[method.toLowerCase()]?.operationId, name).toBe(answered ? name : undefined);
    }
  });
});
