import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { pixel } from '../../support/generation.js';
import { ask, publisherForTest, registerVersion, serviceForTest } from '../../support/service.js';

const REVISION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const current = { [REVISION]: '2026-07-28', [CAPABILITIES]: {} };

async function clientForTest(url: string, token: string, mode: 'auto' | 'legacy' = 'auto', query = '') {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

/** Sends one message as it is. */
async function sendMessage(
  service: { readonly url: string; readonly ownerToken: string },
  message: unknown,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${service.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.ownerToken}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
}

const createCall = (name: string, input: object, meta?: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: input, ...(meta && { _meta: meta }) },
});

describe('POST /mcp', () => {
  it.each([
    ['auto', '2026-07-28'],
    ['legacy', '2025-11-25'],
  ] as const)('serves the official client that negotiates by %s', async (mode, revision) => {
    const service = await serviceForTest({}, { engines: { image: createCopyingEngine() } });
    await registerVersion(await publisherForTest(service), '1.0.0');
    const client = await clientForTest(service.url, service.ownerToken, mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('image_relight');
    expect(tools.find(({ name }) => name === 'node_get')).toMatchObject({
      annotations: { readOnlyHint: true },
      description: expect.stringContaining('never instructions'),
    });
    const node = await client.callTool({ name: 'node_get', arguments: { nodeId: 'pack' } });
    expect(node.structuredContent).toMatchObject({ id: 'pack' });
    const started = await client.callTool({ name: 'image_relight', arguments: { image: pixel } });
    const { data } = started.structuredContent as { data: { task_id: string } };
    const { structuredContent } = await client.callTool({ name: 'task_list', arguments: {} });
    expect(structuredContent).toMatchObject({ tasks: [{ task_id: data.task_id }] });
  });

  it('takes credentials, limits and roles as any request does', async () => {
    const service = await serviceForTest({}, { engines: { image: createCopyingEngine() } });
    const { ownerToken: token } = service;
    const { body: key } = await ask(`${service.url}/users/keys`, {
      method: 'POST',
      token,
      json: { name: 'agent', operations: ['image.upscaler'] },
    });
    const as = { url: service.url, ownerToken: key.token };
    const refused = await sendMessage(as, createCall('image_relight', { image: pixel }));
    expect(JSON.parse(refused.body.result.content[0].text)).toMatchObject({
      error: { code: 'forbidden', status: 403 },
    });
    const client = await clientForTest(service.url, key.token, 'auto', '?tools=*');
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['image_upscaler', 'task_cancel', 'publisher_get']));
    for (const closed of ['image_relight', 'user_usage', 'publisher_update', 'publisher_create'])
      expect(names).not.toContain(closed);
    expect(
      (await sendMessage(as, createCall('image_upscaler', { image: pixel }))).body.result.isError,
    ).toBeUndefined();
    const anonymous = await fetch(`${service.url}/mcp`, { method: 'POST' });
    expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(
      (await sendMessage({ url: service.url, ownerToken: 'wrong' }, createCall('node_search', {}))).status,
    ).toBe(401);
  });

  it('starts a task once for an idempotency key', async () => {
    const service = await serviceForTest({}, { engines: { image: createCopyingEngine() } });
    const start = () =>
      sendMessage(service, createCall('image_relight', { image: pixel }), { 'idempotency-key': 'one' });
    const [first, second] = [await start(), await start()];
    expect(first.body.result.structuredContent.data.task_id).toBe(
      second.body.result.structuredContent.data.task_id,
    );
  });

  it('refuses pages of other sites, and other methods', async () => {
    const service = await serviceForTest({ cors: { origins: ['https://app.example.org'] } });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    for (const origin of ['https://evil.example.org', 'null', 'http://127.0.0.1:1'])
      expect((await sendMessage(service, ping, { origin })).status).toBe(403);
    for (const origin of ['https://app.example.org', new URL(service.url).origin])
      expect((await sendMessage(service, ping, { origin })).body.result).toEqual({});
    for (const method of ['GET', 'DELETE'])
      expect((await fetch(`${service.url}/mcp`, { method })).status).toBe(405);
  });

  it('refuses messages that say something else than their headers, as other revisions, and batches', async () => {
    const service = await serviceForTest();
    const search = createCall('node_search', {}, current);
    const said = (version: string, method: string, name: string) => ({
      'mcp-protocol-version': version,
      'mcp-method': method,
      'mcp-name': name,
    });
    const right = said('2026-07-28', 'tools/call', 'node_search');
    expect((await sendMessage(service, search, right)).body.result).toMatchObject({ resultType: 'complete' });
    const encoded = { ...right, 'mcp-name': `=?base64?${btoa('node_search')}?=` };
    expect((await sendMessage(service, search, encoded)).status).toBe(200);
    for (const wrong of [
      said('2026-07-28', 'tools/list', 'node_search'),
      said('2026-07-28', 'tools/call', 'node_get'),
      said('2025-11-25', 'tools/call', 'node_search'),
      {},
    ]) {
      const { status, body } = await sendMessage(service, search, wrong as Record<string, string>);
      expect([status, body.error.code]).toEqual([400, -32020]);
    }
    const unknown = { ...current, [REVISION]: '1900-01-01' };
    const refused = await sendMessage(
      service,
      createCall('node_search', {}, unknown),
      said('1900-01-01', 'tools/call', 'node_search'),
    );
    expect([refused.status, refused.body.error.code]).toEqual([400, -32022]);
    expect((await sendMessage(service, [search])).status).toBe(400);
    expect((await sendMessage(service, '{')).status).toBe(400);
    expect((await sendMessage(service, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(
      202,
    );
  });

  it('refuses arguments that are nested too deeply', async () => {
    const service = await serviceForTest();
    const nested = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`;
    for (const name of ['image_relight', 'node_search', 'node_get']) {
      const text = JSON.stringify(createCall(name, { nodeId: 'HERE' })).replace('"HERE"', nested);
      const { status, body } = await sendMessage(service, text);
      expect([name, status < 500, body.error ?? body.result.isError]).toEqual([
        name,
        true,
        expect.anything(),
      ]);
    }
  });

  it('reaches no other path or operation by its arguments', async () => {
    const service = await serviceForTest();
    for (const nodeId of [
      '..',
      '.',
      '',
      1,
      null,
      { a: 1 },
      '\ud800',
      '../users/keys',
      'a/../../users/me',
      '%2e%2e',
    ]) {
      const { body } = await sendMessage(service, createCall('node_get', { nodeId }));
      expect(body.result.isError).toBe(true);
      expect(['invalid_request', 'not_found']).toContain(JSON.parse(body.result.content[0].text).error.code);
    }
    for (const name of ['key_create', 'admin_generateToken', 'publisher_get', '__proto__', 'constructor'])
      expect((await sendMessage(service, createCall(name, {}))).body.error.code).toBe(-32602);
    const { body } = await sendMessage(
      service,
      createCall('node_search', { __proto__: null, 'x&admin': 'true', limit: 'x' }),
    );
    expect(body.result.isError).toBe(true);
    const asked = await fetch(`${service.url}/mcp?tools=publisher_get`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.ownerToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(createCall('publisher_get', { publisherId: 'nope' })),
    });
    expect(await asked.json()).toMatchObject({ result: { isError: true } });
  });
});
