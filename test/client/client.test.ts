import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/client/client.js';
import type { ClientOptions } from '../../src/client/client-options.js';
import { InvalidRequestError, ResponseError, ServiceError } from '../../src/client/errors.js';
import { contract } from '../../src/contract/index.js';
import { loadNaming } from '../../src/contract/naming/load-naming.js';
import { listOperations } from '../../src/contract/operation.js';
import { createFakeClock, type Reply, sendJson, serveForTest } from './server.js';

async function clientForTest(reply: Reply, options: Partial<ClientOptions> = {}) {
  const service = await serveForTest(reply);
  const client = createClient({ baseUrl: service.url, ...createFakeClock(), ...options });
  onTestFinished(() => client.close());
  return { client, seen: service.seen, url: service.url };
}

async function catchFailure(promise: Promise<unknown>): Promise<never> {
  return promise.then(
    () => expect.unreachable('should have failed'),
    (error) => error as never,
  );
}

const publish = {
  node: { name: 'Hello' },
  node_version: { version: '1.0.0' },
  personal_access_token: 'regen_pat_secret',
};

describe('a call', () => {
  it('puts parameters in the path and the query, and answers with the parsed body', async () => {
    const { client, seen } = await clientForTest((_, response) => sendJson(response, 200, { id: 'hello' }));
    const node = await client.node.get({ nodeId: 'hello', include_translations: true });
    expect(node).toEqual({ id: 'hello' });
    expect(seen[0]).toMatchObject({ method: 'GET', url: '/nodes/hello?include_translations=true' });
    expectTypeOf(node.downloads).toEqualTypeOf<number | undefined>();
  });

  it('repeats the values of a list in the query', async () => {
    const { client, seen } = await clientForTest((_, response) => sendJson(response, 200, []));
    const statuses = ['NodeVersionStatusActive', 'NodeVersionStatusPending'] as const;
    await client.version.list({ nodeId: 'a', statuses: [...statuses] });
    expect(seen[0]?.url).toBe(
      '/nodes/a/versions?statuses=NodeVersionStatusActive&statuses=NodeVersionStatusPending',
    );
  });

  it('sends the given value, not the parsed one', async () => {
    const page = { limit: 10, nodes: [], page: 1, total: 0, totalPages: 0 };
    const { client, seen } = await clientForTest((_, response, number) =>
      sendJson(
        response,
        200,
        number === 1 ? page : { node_version: {}, signedUrl: 'https://store.example/a' },
      ),
    );
    await client.node.list({ publisherId: 'acme' });
    expect(seen[0]?.url).toBe('/publishers/acme/nodes/v2');
    const body = { ...publish, node: { ...publish.node, added_later: [1] } };
    await client.version.publish({ publisherId: 'acme', nodeId: 'hello', body });
    expect(JSON.parse(seen[1]?.body ?? '')).toEqual(body);
    expect(seen[1]?.headers['content-type']).toBe('application/json');
  });

  it('keeps a path in the base address as a prefix', async () => {
    const { url, seen } = await clientForTest((_, response) => sendJson(response, 200, { id: 'a' }));
    const client = createClient({ baseUrl: `${url}/registry/` });
    onTestFinished(() => client.close());
    await client.node.get({ nodeId: 'a' });
    expect(seen[0]?.url).toBe('/registry/nodes/a');
  });

  it.each([
    ['a/../b', '/nodes/a%2F..%2Fb'],
    ['a?b#c', '/nodes/a%3Fb%23c'],
    ['ä %', '/nodes/%C3%A4%20%25'],
    ['...', '/nodes/...'],
  ])('escapes %j as one segment of the path', async (nodeId, path) => {
    const { client, seen } = await clientForTest((_, response) => sendJson(response, 200, { id: 'a' }));
    await client.node.get({ nodeId });
    expect(seen[0]?.url).toBe(path);
  });

  it.each(['.', '..', '', '\ud800'])('refuses %j as a segment of the path', async (nodeId) => {
    const { client, seen } = await clientForTest((_, response) => sendJson(response, 200, { id: 'a' }));
    const error: InvalidRequestError = await catchFailure(client.node.get({ nodeId }));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error.problems[0]?.path).toEqual(['nodeId']);
    expect(seen).toEqual([]);
  });

  it('reports all problems of the input and sends nothing', async () => {
    const { client, seen } = await clientForTest((_, response) => sendJson(response, 200, { id: 'a' }));
    const input = { publisherId: 'acme', nodeID: 'x', body: { node: {}, node_version: { version: 'v1' } } };
    // @ts-expect-error nodeId and the token are missing
    const error: InvalidRequestError = await catchFailure(client.version.publish(input));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error.problems.map(({ path, message }) => [path.join('.'), message])).toEqual([
      ['nodeId', 'is required'],
      ['body.node_version.version', "'v1' is not a semantic version; write 1.0.0"],
      ['body.personal_access_token', 'is required'],
      ['nodeID', 'is not a known field'],
    ]);
    expect(seen).toEqual([]);
  });

  it('requires the body of an operation that has one, and refuses a body for others', async () => {
    const { client } = await clientForTest((_, response) => sendJson(response, 200, { id: 'a' }));
    // @ts-expect-error the body is missing
    const missing: InvalidRequestError = await catchFailure(client.publisher.create());
    expect(missing.message).toBe('body is required');
    // @ts-expect-error this operation has no body
    const extra: InvalidRequestError = await catchFailure(client.node.get({ nodeId: 'a', body: {} }));
    expect(extra.message).toBe('body is not a known field');
  });

  it('answers undefined for 204', async () => {
    const { client } = await clientForTest((_, response) => response.writeHead(204).end());
    const nothing = await client.node.delete({ publisherId: 'acme', nodeId: 'a' });
    expectTypeOf(nothing).toEqualTypeOf<undefined>();
    expect(nothing).toBeUndefined();
  });

  it('needs no input where nothing is required', async () => {
    const page = { limit: 10, nodes: [], page: 1, total: 0, totalPages: 0 };
    const { client, seen } = await clientForTest((_, response) => sendJson(response, 200, page));
    await client.node.search();
    expect(seen.map(({ url }) => url)).toEqual(['/nodes']);
  });

  it('returns the status and headers on request', async () => {
    const { client } = await clientForTest((_, response) =>
      sendJson(response, 201, { id: 'acme' }, { 'X-Note': 'hi' }),
    );
    const body = { id: 'acme', name: 'Acme' };
    const answered = await client.requestNamed('publisher.create', { body });
    expect(answered).toMatchObject({ status: 201, headers: { 'x-note': 'hi' }, data: { id: 'acme' } });
  });
});

describe('an answer', () => {
  it('keeps unknown fields and values, and may lack optional fields', async () => {
    const later = { id: 'a', status: 'NodeStatusArchived', added_later: { deep: [null] }, author: null };
    const { client } = await clientForTest((_, response) => sendJson(response, 200, later));
    expect(await client.node.get({ nodeId: 'a' })).toEqual(later);
  });

  it.each([
    ['an empty object', {}],
    ['null', null],
    ['a list', []],
    ['the object of another API', { ok: true }],
    ['fields of another type', { id: 7 }],
    ['lists that hold something else', { id: 'a', tags: [null] }],
  ])('that is %s is an error, not a node without fields', async (_, answer) => {
    const { client } = await clientForTest((_, response) => sendJson(response, 200, answer));
    expect(await catchFailure(client.node.get({ nodeId: 'a' }))).toMatchObject({
      name: 'ResponseError',
      code: 'unexpected',
    });
  });

  it('that lacks a list is an error that names it, not an empty list', async () => {
    const { client } = await clientForTest((_, response) => sendJson(response, 200, { node_versions: null }));
    const error: Error = await catchFailure(client.version.bulk({ body: { node_versions: [] } }));
    expect(error.message).toContain("('node_versions' is missing or of another type)");
  });

  it('may be chunked and begin with a byte order mark', async () => {
    const { client } = await clientForTest((_, response) => {
      response.write('\ufeff{"id":');
      setTimeout(() => response.end('"ä"}'), 10);
    });
    expect(await client.node.get({ nodeId: 'a' })).toEqual({ id: 'ä' });
  });

  it('that is an HTML page is an error that says so', async () => {
    const { client } = await clientForTest((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in to the Wi-Fi</html>');
    });
    const error: ResponseError = await catchFailure(client.node.get({ nodeId: 'a' }));
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({ code: 'not_json', status: 200 });
    expect(error.message).toContain('an HTML page instead of JSON');
  });

  it('that is empty where JSON is expected is an error', async () => {
    const { client } = await clientForTest((_, response) => response.end());
    expect(await catchFailure(client.node.get({ nodeId: 'a' }))).toMatchObject({ code: 'empty' });
  });

  it('that is larger than accepted is an error, and is not read to its end', async () => {
    const { client } = await clientForTest((_, response) => void response.write('x'.repeat(5000)), {
      maxAnswerBytes: 1000,
    });
    const error: ResponseError = await catchFailure(client.node.get({ nodeId: 'a' }));
    expect(error).toMatchObject({ name: 'ResponseError', code: 'too_large' });
    expect(error.message).toContain('1000 bytes');
  });

  it('that is nested too deep is an error before it is parsed', async () => {
    const { client } = await clientForTest((_, response) => {
      response.end(`{"id":"a","translations":${'['.repeat(5000)}${']'.repeat(5000)}}`);
    });
    const error: ResponseError = await catchFailure(client.node.get({ nodeId: 'a' }));
    expect(error).toMatchObject({ name: 'ResponseError', code: 'too_deep', status: 200 });
  });
});

describe("the service's errors", () => {
  it('keep their code, message, details and request id', async () => {
    const details = [{ path: 'id', message: 'is taken' }];
    const { client } = await clientForTest((_, response) => {
      const body = { error: 'duplicate_publisher', message: 'The id is taken.', details };
      sendJson(response, 400, body, { 'X-Request-Id': 'r-1' });
    });
    const error: ServiceError = await catchFailure(
      client.publisher.create({ body: { id: 'acme', name: 'A' } }),
    );
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'duplicate_publisher',
      status: 400,
      message: 'The id is taken.',
      details,
      requestId: 'r-1',
    });
  });

  it('ignore details of an unknown form', async () => {
    const { client } = await clientForTest((_, response) =>
      sendJson(response, 400, { error: 'x', message: 'y', details: { z: 1 } }),
    );
    expect(await catchFailure(client.user.me())).toMatchObject({ code: 'x', message: 'y', details: [] });
  });

  it.each([
    [400, { error: 'Invalid personal access token', message: '' }, 'Invalid personal access token'],
    [500, { error: 'duplicate: node with same repo: x' }, 'duplicate: node with same repo: x'],
    [403, { message: 'Permission denied' }, 'Permission denied'],
    [400, { message: 'bad', details: ['prompt too long'] }, 'bad: prompt too long'],
    [400, { message: 'The node version already exists' }, 'The node version already exists'],
    [400, { message: 'Invalid.', error: 'Bad Request', details: 'no image' }, 'Invalid: no image'],
    [422, { details: ['prompt too long', '', 'no image'] }, 'prompt too long; no image'],
    [400, { details: [{ path: 'id', message: 'is taken' }] }, 'id is taken'],
    [400, { error: { code: 7, message: 'no such node' } }, 'no such node'],
    [400, { message: ['id is taken', 'name is empty'] }, 'id is taken; name is empty'],
    [422, { detail: [{ loc: ['body', 'id'], msg: 'field required' }] }, 'field required'],
    [400, { type: 'about:blank', title: 'Bad Request', detail: 'no image' }, 'no image'],
    [400, { errors: [{ message: 'no image' }] }, 'no image'],
    [400, { error: 'invalid_grant', error_description: 'it has expired' }, 'it has expired'],
    [403, JSON.parse(`${'['.repeat(50)}"deep"${']'.repeat(50)}`), 'this is not allowed.'],
    [401, { error: 'Unauthorized', message: ' ' }, 'a credential is required (Unauthorized).'],
    [404, { error: '', message: '', details: [] }, 'there is nothing at this address.'],
    [401, '', 'a credential is required.'],
    [403, [null], 'this is not allowed.'],
  ])('of another service, %i %j, keep their words', async (status, body, words) => {
    const { client } = await clientForTest((_, response) =>
      response.writeHead(status).end(body && JSON.stringify(body)),
    );
    const error: ServiceError = await catchFailure(client.requestNamed('user.me', {}, { retries: 0 }));
    expect(error).toMatchObject({ name: 'ServiceError', status });
    expect(error.message.slice(-words.length)).toBe(words);
  });

  it.each([
    [
      'text/html',
      '<html><body>Bad Gateway</body></html>',
      404,
      ': there is nothing at this address (an HTML page).',
    ],
    ['text/plain', '', 404, ': there is nothing at this address.'],
    ['text/plain', 'no such\n\u001b[31mroute', 418, ' (no such [31mroute).'],
    ['application/json', '{"oops":1}', 403, ': this is not allowed.'],
    [
      'application/xml',
      '<Error><Message>Request has expired</Message></Error>',
      403,
      ': this is not allowed (Request has expired).',
    ],
  ])('of type %s with the body %j become a message', async (type, body, status, sentence) => {
    const { client, url } = await clientForTest((_, response) =>
      response.writeHead(status, { 'content-type': type }).end(body),
    );
    const error: ServiceError = await catchFailure(client.user.me());
    expect(error).toMatchObject({ name: 'ServiceError', code: `http_${status}`, status });
    expect(error.message).toBe(`${url} answered ${status}${sentence}`);
  });

  it('are shortened if their body is huge', async () => {
    const { client } = await clientForTest((_, response) => {
      response.writeHead(404, { 'content-type': 'text/plain' });
      const more = () => {
        while (response.write('lots of words '.repeat(1000))) if (response.destroyed) return;
        response.once('drain', more);
      };
      more();
    });
    const error: ServiceError = await catchFailure(client.user.me());
    expect(error.status).toBe(404);
    expect(error.message).toContain('lots of words lots of words');
    expect(error.message.length).toBeLessThan(400);
  });

  it('are described by their status if the body breaks off', async () => {
    const { client } = await clientForTest((_, response) => {
      response.writeHead(404, { 'content-length': 100 }).write('half');
      setTimeout(() => response.destroy(), 10);
    });
    expect(await catchFailure(client.user.me())).toMatchObject({ name: 'ServiceError', status: 404 });
  });
});

describe('the contract', () => {
  it('gives no query parameter the name of a path parameter or of the body', () => {
    for (const [name, { params, query }] of listOperations(contract)) {
      const taken = ['body', ...Object.keys(params.shape)];
      const twice = Object.keys(query?.shape ?? {}).filter((field) => taken.includes(field));
      expect(twice, name).toEqual([]);
    }
  });
});

describe('a client', () => {
  it.each([
    ['registry.example', 'must be a URL'],
    ['ftp://registry.example', 'must start with http:// or https://'],
    ['https://me:secret@registry.example', 'must not contain a user name or password'],
    ['https://registry.example/?a=1', 'without ? or #'],
  ])('is not created for %s', (baseUrl, sentence) => {
    expect(() => createClient({ baseUrl })).toThrow(sentence);
    expect(() => createClient({ baseUrl })).not.toThrow('secret');
  });

  it('fails with a NetworkError after it was closed', async () => {
    const { client } = await clientForTest((_, response) => sendJson(response, 200, { id: 'a' }));
    await client.node.get({ nodeId: 'a' });
    await client.close();
    expect(await catchFailure(client.node.get({ nodeId: 'a' }))).toMatchObject({
      name: 'NetworkError',
      sent: false,
    });
  });
});

describe('a raw request', () => {
  it('reaches any path with the credential, and returns responses of any status', async () => {
    const { client, seen } = await clientForTest(
      (_, response) => response.writeHead(418).end('short and stout'),
      {
        token: 'secret-1',
      },
    );
    const answer = await client.raw({
      method: 'post',
      path: 'tea?kind=green',
      query: { cups: [1, 2] },
      headers: { 'X-Spoon': 'one' },
      body: '{}',
    });
    let text = '';
    for await (const part of answer.body) text += Buffer.from(part).toString();
    expect([answer.status, text]).toEqual([418, 'short and stout']);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/tea?kind=green&cups=1&cups=2', body: '{}' });
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer secret-1',
      'x-spoon': 'one',
      'content-type': 'application/json',
    });
  });

  it('accepts a URL of the same origin, and of no other', async () => {
    const { client, seen, url } = await clientForTest((_, response) => response.end(), { token: 'secret-1' });
    expect((await client.raw({ path: `${url}/files/a%2Fb?sig=1` })).status).toBe(200);
    expect(seen[0]?.url).toBe('/files/a%2Fb?sig=1');
    for (const path of ['https://evil.example/', 'http://127.0.0.1:1/', 'file:///etc/passwd']) {
      await expect(client.raw({ path })).rejects.toBeInstanceOf(InvalidRequestError);
    }
    expect((await client.raw({ path: '//evil.example/x' })).url.origin).toBe(url);
  });

  it('is repeated while the service is busy, and returns the last response', async () => {
    const { client, seen } = await clientForTest((_, response, number) =>
      response.writeHead(number < 3 ? 503 : 200).end(),
    );
    expect((await client.raw({ path: '/x' })).status).toBe(200);
    expect((await client.raw({ path: '/x', retries: 0 })).status).toBe(200);
    expect(seen).toHaveLength(4);
    const { client: other } = await clientForTest((_, response) => response.writeHead(502).end('still'));
    expect((await other.raw({ path: '/x', retries: 1 })).status).toBe(502);
  });
});

describe('a service with another naming', () => {
  it('is called and answers in the names of the contract, and its own body is there as well', async () => {
    const listed = { comfy_nodes: [{ comfy_node_name: 'A', policy: 'ComfyNodePolicyBanned' }], total: 1 };
    const naming = await loadNaming('comfy', () => '');
    const { client, seen } = await clientForTest((_, response) => sendJson(response, 200, listed), {
      naming,
    });
    const answered = await client.requestNamed('hostNodes.listAll', { host_node_name: 'A' });
    expect(seen[0]?.url).toBe('/comfy-nodes?comfy_node_name=A');
    expect(answered.data).toEqual({
      host_nodes: [{ host_node_name: 'A', policy: 'HostNodePolicyBanned' }],
      total: 1,
    });
    expect(answered.body).toEqual(listed);
  });
});
