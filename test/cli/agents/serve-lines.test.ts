import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { serveLines } from '../../../src/cli/agents/serve-lines.js';
import type { ToolCall, ToolResult } from '../../../src/wire/mcp.js';

const initialize = {
  jsonrpc: '2.0',
  id: 'start',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const createRequest = (id: unknown, method: string, params?: object) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const createCall = (id: unknown, name: string, more: object = {}) =>
  createRequest(id, 'tools/call', { name, ...more });

/** Sends lines to a server with the tools `echo` and `hold`, and returns what it answers by the end. */
async function sendLines(
  lines: readonly (string | object)[],
  callTool = async ({ name, input }: ToolCall): Promise<ToolResult | undefined> =>
    name === 'echo' ? { content: [], structuredContent: input } : undefined,
) {
  const input = new PassThrough();
  const output = new PassThrough();
  let text = '';
  output.on('data', (chunk) => {
    text += chunk;
  });
  for (const line of lines) input.write(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);
  input.end();
  const server = { version: '1.0.0', instructions: 'Words.', listTools: async () => [], callTool };
  await serveLines(input, output, server);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const findCode = (answers: readonly { id?: unknown; error?: { code: number } }[], id?: unknown) =>
  answers.find((answer) => answer.id === id)?.error?.code;

describe('a server on a stream', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    ['constructor', '2025-11-25'],
  ])('answers initialize for %s with %s', async (protocolVersion, expected) => {
    const [{ result }] = await sendLines([{ ...initialize, params: { protocolVersion } }]);
    expect(result).toMatchObject({ protocolVersion: expected, capabilities: { tools: {} } });
  });

  it('answers requests of the current revision without a handshake, and names what it speaks', async () => {
    const other = { ...META, 'io.modelcontextprotocol/protocolVersion': '1900-01-01' };
    const { 'io.modelcontextprotocol/clientCapabilities': _, ...bare } = META;
    const answers = await sendLines([
      createRequest(1, 'server/discover', { _meta: META }),
      createRequest(2, 'tools/list', { _meta: META }),
      createRequest(3, 'tools/list', { _meta: other }),
      createRequest(4, 'tools/list', { _meta: bare }),
      createRequest(5, 'ping', { _meta: META }),
      createRequest(6, 'initialize', { _meta: META }),
    ]);
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    expect(byId.get(1).result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18'],
    });
    expect(byId.get(2).result).toMatchObject({ tools: [], cacheScope: 'private', resultType: 'complete' });
    expect(byId.get(3).error).toMatchObject({ code: -32022, data: { requested: '1900-01-01' } });
    expect([4, 5, 6].map((id) => findCode(answers, id))).toEqual([-32602, -32601, -32601]);
  });

  it('refuses what is not a message, and goes on', async () => {
    const wrong = ['{', '[]', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 'null', '1', '"a"', '{}'];
    const more = [
      { jsonrpc: '1.0', id: 1, method: 'ping' },
      createRequest(null, 'ping'),
      createRequest({ toString: 1 }, 'ping'),
      createRequest(1.5, 'ping'),
      createRequest('x'.repeat(2000), 'ping'),
      { jsonrpc: '2.0', id: 1, method: 7 },
      { jsonrpc: '2.0', id: 1, method: 'ping', params: [] },
    ];
    const answers = await sendLines([
      ...wrong.map((line) => `${line}\n`),
      ...more,
      '\n \n\r\n',
      { jsonrpc: '2.0', id: 9, result: {} },
      { jsonrpc: '2.0', method: 'notifications/unknown' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: '__proto__' } },
      createRequest('last', 'ping'),
    ]);
    expect(answers.slice(0, -1).map(({ error }) => error.code)).toEqual([
      -32700,
      ...Array.from({ length: wrong.length + more.length - 1 }, () => -32600),
    ]);
    expect(answers.at(-1)).toEqual({ jsonrpc: '2.0', id: 'last', result: {} });
  });

  it('refuses calls before initialize, and of names and arguments that no tool has', async () => {
    expect(findCode(await sendLines([createCall(1, 'echo'), initialize]), 1)).toBe(-32600);
    const names = ['__proto__', 'constructor', 'toString', '', 'x'.repeat(10_000)];
    const answers = await sendLines([
      initialize,
      ...names.map((name, at) => createCall(at, name)),
      createCall('list', 'echo', { arguments: [] }),
      createRequest('none', 'tools/call'),
      createRequest('method', 'hasOwnProperty'),
      `{"jsonrpc":"2.0","id":"own","method":"tools/call","params":{"name":"echo","arguments":{"__proto__":{"a":1}}}}\n`,
    ]);
    expect(names.map((_, at) => findCode(answers, at))).toEqual(names.map(() => -32602));
    expect(['list', 'none', 'method'].map((id) => findCode(answers, id))).toEqual([-32602, -32602, -32601]);
    expect(answers.find(({ id }) => id === 'own')).not.toHaveProperty('error');
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  it('does not keep a message that is too long', async () => {
    const part = 'x'.repeat(1024 ** 2);
    const [refusal, pong] = await sendLines([
      ...Array.from({ length: 65 }, () => part),
      '\n',
      createRequest(1, 'ping'),
    ]);
    expect(refusal.error).toMatchObject({ code: -32600, message: expect.stringContaining('bytes') });
    expect(pong.result).toEqual({});
  });

  it('runs a limited number of requests, each with its own id', async () => {
    const ended = async ({ signal }: ToolCall) => {
      await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
      return { content: [] };
    };
    const calls = Array.from({ length: 66 }, (_, at) => createCall(at, 'hold'));
    const answers = await sendLines([initialize, createCall(0, 'hold'), ...calls], ended);
    expect(answers.filter(({ error }) => error?.code === -32000).length).toBeGreaterThan(0);
    expect(answers.filter(({ error }) => error?.code === -32600)).toHaveLength(1);
    // The end of the stream ended the rest.
    expect(answers.filter(({ id, result }) => typeof id === 'number' && result).length).toBe(64);
  });

  it('answers no request that was canceled, and tells the call', async () => {
    let isAborted = false;
    const hold = ({ signal }: ToolCall) =>
      new Promise<ToolResult>((done) => {
        signal.addEventListener('abort', () => {
          isAborted = true;
          done({ content: [] });
        });
      });
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    const answers = await sendLines(
      [initialize, createCall(7, 'hold'), cancel, createRequest(8, 'ping')],
      hold,
    );
    expect(answers.map(({ id }) => id)).toEqual(['start', 8]);
    expect(isAborted).toBe(true);
  });

  it('says nothing of a fault of its own but that there was one', async () => {
    const fail = async () => {
      throw new Error('/home/user/secret');
    };
    const answers = await sendLines([initialize, createCall(1, 'echo')], fail);
    expect(answers.find(({ id }) => id === 1).error).toEqual({ code: -32603, message: 'Internal error.' });
  });

  it('reports progress only for a token that the request has', async () => {
    const tell = async ({ report }: ToolCall) => {
      report('one');
      report('two');
      return { content: [] };
    };
    const answers = await sendLines(
      [initialize, createCall(1, 'echo', { _meta: { progressToken: 't' } }), createCall(2, 'echo')],
      tell,
    );
    const told = answers.filter(({ method }) => method === 'notifications/progress');
    expect(told.map(({ params }) => params)).toEqual([
      { progressToken: 't', progress: 1, message: 'one' },
      { progressToken: 't', progress: 2, message: 'two' },
    ]);
  });
});
