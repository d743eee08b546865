import { isRecord } from '../contract/json.js';

/** The Model Context Protocol, without a transport: every request of the current revision says which it speaks. */
const CURRENT = '2026-07-28';
/** Revisions whose clients begin with `initialize`, the newest first. */
const LEGACY: readonly string[] = ['2025-11-25', '2025-06-18'];

const META = 'io.modelcontextprotocol/';
/** Nothing that is listed changes while a program runs. */
const CACHE = { ttlMs: 3_600_000, cacheScope: 'private' };

/** Error codes of JSON-RPC and of the protocol. */
const codes = { parse: -32700, request: -32600, method: -32601, params: -32602, internal: -32603 } as const;
const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;

export interface ToolResult {
  readonly content: readonly object[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export interface ToolCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Reports progress, if the client asked for it. */
  report(message: string): void;
}

/** What is offered. A call that fails has its error in its result. */
export interface ToolServer {
  readonly version: string;
  readonly instructions: string;
  listTools(): Promise<readonly object[]>;
  /** @returns undefined for an unknown tool */
  callTool(call: ToolCall): Promise<ToolResult | undefined>;
}

/** How a message arrived. */
export interface Delivery {
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to a request; absent where none can be sent. */
  notify?(notification: object): void;
  /** Reads a header that repeats a part of a message; absent without HTTP. */
  header?(name: string): string | undefined;
  /** Of a connection that begins with `initialize`; absent where each request is on its own. */
  readonly session?: { isOpen: boolean };
}

export class RpcError extends Error {
  override readonly name = 'RpcError';

  constructor(
    readonly code: number,
    message: string,
    readonly data?: object,
  ) {
    super(message);
  }
}

export interface RpcRequest {
  /** Absent: it is a notification. */
  readonly id?: string | number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * Reads a message.
 * @returns undefined for the answer to a request, because none are sent
 * @throws RpcError if it is not a message of JSON-RPC
 */
export function readMessage(message: unknown): RpcRequest | undefined {
  if (Array.isArray(message)) throw new RpcError(codes.request, 'Send one message at a time, not a batch.');
  if (!isRecord(message) || message.jsonrpc !== '2.0')
    throw new RpcError(codes.request, 'Not a message of JSON-RPC 2.0.');
  const { id, method, params = {} } = message;
  if (method === undefined && ('result' in message || 'error' in message)) return undefined;
  const isId = typeof id === 'string' ? id.length <= MAX_ID : id === undefined || Number.isSafeInteger(id);
  if (typeof method !== 'string' || !isId || !isRecord(params))
    throw new RpcError(codes.request, 'A request has a method, an id of text or a whole number, and params.');
  return { ...(id !== undefined && { id: id as string | number }), method, params };
}

const MAX_ID = 1000;

export function parseMessage(text: string): RpcRequest | undefined {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    throw new RpcError(codes.parse, 'Not valid JSON.');
  }
  return readMessage(message);
}

/** Writes the answer to a request that failed; without an id if it could not be read. */
export function formatError(error: unknown, id?: string | number): object {
  const { code, message, data } =
    error instanceof RpcError ? error : new RpcError(codes.internal, 'Internal error.');
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code, message, ...(data && { data }) } };
}

/** The status of HTTP for an answer: the current revision has some for requests that cannot be answered. */
export function findStatus({ code }: RpcError, { params }: Pick<RpcRequest, 'params'>): number {
  if (code === HEADER_MISMATCH || code === UNSUPPORTED_VERSION) return 400;
  if (readVersion(params) === undefined) return 200;
  return code === codes.method ? 404 : 400;
}

/** Answers a request. @throws RpcError */
export async function answerRequest(
  server: ToolServer,
  request: RpcRequest,
  delivery: Delivery,
): Promise<object> {
  const version = readVersion(request.params);
  checkVersion(version, request, delivery);
  if (version === undefined) return answerLegacy(server, request, delivery);
  const answer = await answerMethod(server, request, delivery);
  const serverInfo = { name: 'regen', version: server.version };
  return { resultType: 'complete', ...answer, _meta: { [`${META}serverInfo`]: serverInfo } };
}

function readMeta({ _meta: meta }: RpcRequest['params']): Readonly<Record<string, unknown>> {
  return isRecord(meta) ? meta : {};
}

/** The revision that a request names; undefined for those that begin with `initialize`. */
function readVersion(params: RpcRequest['params']): unknown {
  return readMeta(params)[`${META}protocolVersion`];
}

/** @throws RpcError for another revision, and if what a proxy reads is not what is done */
function checkVersion(version: unknown, { method, params }: RpcRequest, { header }: Delivery): void {
  const named = header?.('mcp-protocol-version');
  const asked = version ?? named;
  const isKnown = version === undefined ? LEGACY.includes(String(named)) : version === CURRENT;
  // The revisions before that header have the same answers.
  if (asked !== undefined && !isKnown) {
    const isBare = version === undefined && named === CURRENT;
    if (isBare) throw new RpcError(HEADER_MISMATCH, `The request has no ${META}protocolVersion in _meta.`);
    const data = { supported: [CURRENT, ...LEGACY], requested: String(asked).slice(0, MAX_ID) };
    throw new RpcError(UNSUPPORTED_VERSION, 'Unsupported protocol version.', data);
  }
  if (version === undefined) return;
  if (!isRecord(readMeta(params)[`${META}clientCapabilities`]))
    throw new RpcError(codes.params, `_meta has no ${META}clientCapabilities.`);
  if (!header) return;
  const parts = { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': params.name };
  for (const [name, part] of Object.entries(parts)) {
    if (part !== undefined && decodeHeader(header(name)) !== part)
      throw new RpcError(HEADER_MISMATCH, `The header ${name} does not say what the body says.`);
  }
}

function decodeHeader(value: string | undefined): string | undefined {
  const [, base64] = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/.exec(value ?? '') ?? [];
  return base64 === undefined ? value : Buffer.from(base64, 'base64').toString();
}

async function answerLegacy(server: ToolServer, request: RpcRequest, delivery: Delivery): Promise<object> {
  const { method, params } = request;
  const { session } = delivery;
  if (method === 'ping') return {};
  if (method !== 'initialize' && session?.isOpen === false)
    throw new RpcError(codes.request, 'Send initialize first.');
  if (method !== 'initialize') return answerMethod(server, request, delivery);
  if (session) session.isOpen = true;
  const { version, instructions } = server;
  const asked = LEGACY.find((one) => one === params.protocolVersion);
  const serverInfo = { name: 'regen', version };
  return { protocolVersion: asked ?? LEGACY[0], capabilities: { tools: {} }, serverInfo, instructions };
}

async function answerMethod(server: ToolServer, request: RpcRequest, delivery: Delivery): Promise<object> {
  const { method, params } = request;
  const isCurrent = readVersion(params) !== undefined;
  if (method === 'server/discover' && isCurrent) {
    const { instructions } = server;
    return { supportedVersions: [CURRENT, ...LEGACY], capabilities: { tools: {} }, instructions, ...CACHE };
  }
  if (method === 'tools/list') return { tools: await server.listTools(), ...(isCurrent && CACHE) };
  if (method !== 'tools/call') throw new RpcError(codes.method, `Unknown method ${method.slice(0, 100)}.`);
  const { name, arguments: input = {} } = params;
  if (typeof name !== 'string' || !isRecord(input))
    throw new RpcError(codes.params, 'A call has the name of a tool, and arguments as an object.');
  const { progressToken } = readMeta(params);
  let progress = 0;
  const report = (message: string) => {
    if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return;
    progress += 1;
    const about = { progressToken, progress, message };
    delivery.notify?.({ jsonrpc: '2.0', method: 'notifications/progress', params: about });
  };
  const result = await server.callTool({ name, input, signal: delivery.signal, report });
  if (!result) throw new RpcError(codes.params, `Unknown tool ${name.slice(0, 100)}.`);
  return result;
}

export function formatAnswer(id: string | number, result: object): object {
  return { jsonrpc: '2.0', id, result };
}

/** The result of a call with an answer in JSON. */
export function toResult(answer: unknown, more: readonly object[] = []): ToolResult {
  const text = answer === undefined ? 'Done.' : JSON.stringify(answer);
  const content = [{ type: 'text', text }, ...more];
  return isRecord(answer) ? { content, structuredContent: answer } : { content };
}

export function toErrorResult(error: object): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify({ error }) }], isError: true };
}
