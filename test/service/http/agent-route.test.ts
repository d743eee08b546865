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
async function post(
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

const call = (name: string, input: object, meta?: object) => ({
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
});
