import type { FastifyInstance, FastifyRequest } from 'fastify';
import inject, { type DispatchFunc } from 'light-my-request';
import { TOOL_INSTRUCTIONS } from '../../contract/tool-texts.js';
import {
  chooseTools,
  describeTool,
  isOpenToKeys,
  readToolInput,
  toolOperations,
} from '../../contract/tools.js';
import {
  answerRequest,
  findStatus,
  formatAnswer,
  formatError,
  RpcError,
  type RpcRequest,
  readMessage,
  type ToolCall,
  type ToolResult,
  type ToolServer,
  toErrorResult,
  toResult,
} from '../../wire/mcp.js';
import type { Context } from '../operation/context.js';
import { invalidField } from '../operation/refused.js';
import { credentialRequired } from './authenticate.js';

interface AgentAnswer {
  readonly status: number;
  readonly answer?: object;
}

export async function answerAgent(
  app: FastifyInstance,
  { configuration: { version }, compatibility }: Pick<Context, 'configuration' | 'compatibility'>,
  request: FastifyRequest,
): Promise<AgentAnswer> {
  const forwarded = [...FORWARDED, ...(compatibility.apiKeyHeader ? [compatibility.apiKeyHeader] : [])];
  const server: ToolServer = {
    ...{ version, instructions: TOOL_INSTRUCTIONS },
    listTools: async () =>
      chooseNames(request)
        .map((name) => [name, toolOperations.get(name) as Offered] as const)
        .filter(([, offered]) => mayUse(request, offered))
        .map(([name, [, operation]]) => describeTool(name, operation)),
    callTool: async (call) => {
      const offered = chooseNames(request).includes(call.name) && toolOperations.get(call.name);
      return offered ? callOperation(app, request, forwarded, offered, call) : undefined;
    },
  };
  let message: RpcRequest | undefined;
  try {
    message = readMessage(request.body);
  } catch (error) {
    return { status: 400, answer: formatError(error) };
  }
  // A canceled request ends with its connection; other notifications need no answer.
  if (message?.id === undefined) return { status: 202 };
  const header = (name: string) => {
    const value = request.headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  try {
    const result = await answerRequest(server, message, { signal: new AbortController().signal, header });
    return { status: 200, answer: formatAnswer(message.id, result) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { status: findStatus(error, message), answer: formatError(error, message.id) };
  }
}

type Offered = NonNullable<ReturnType<typeof toolOperations.get>>;

/** Whether a tool is worth listing: an API key, unlike a person, is refused most of what is not a task. */
function mayUse({ caller: { kind, operations } }: FastifyRequest, [name, operation]: Offered): boolean {
  if (kind !== 'api_key') return true;
  return isOpenToKeys(operation) && (!operation.task || operations?.includes(name) !== false);
}

/** The names of the tools, with those that the `tools` of the query ask for. @throws Refused invalid_request */
function chooseNames({ query }: FastifyRequest): readonly string[] {
  const { tools = '' } = query as { readonly tools?: unknown };
  const patterns = String(tools).split(',').filter(Boolean);
  const all = [...toolOperations].map(([name, [, { tool }]]) => [name, tool === true] as const);
  const { names, unknown } = chooseTools(all, patterns);
  if (unknown.length === 0) return names;
  throw invalidField('tools', `must name tools, not ${String(unknown[0]).slice(0, 100)}`);
}

/** What a request of an operation has from that of the agent. */
const FORWARDED = ['authorization', 'host', 'idempotency-key', 'x-forwarded-for', 'x-request-id'];

/** Sends a request to this service, which is checked and limited as one from outside. */
async function callOperation(
  app: FastifyInstance,
  request: FastifyRequest,
  forwarded: readonly string[],
  [, operation]: Offered,
  { input }: ToolCall,
): Promise<ToolResult> {
  const { params, query, body } = readToolInput(operation, input);
  const wrong = Object.keys(operation.params.shape).find((name) => !isSegment(params[name]));
  if (wrong !== undefined)
    return toErrorResult({ code: 'invalid_request', message: `${wrong} must be text that is not . or ..` });
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] as string));
  const entries = Object.entries(query).flatMap(([name, value]) =>
    [value]
      .flat()
      .map((one): [string, string] => [name, typeof one === 'string' ? one : JSON.stringify(one)]),
  );
  const given = forwarded.flatMap((name) => {
    const value = request.headers[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // No header is repeated in what is built here.
  const dispatch: DispatchFunc = (req, res) =>
    app.routing(Object.assign(req, { headersDistinct: {}, complete: true }), res);
  const answer = await inject(dispatch, {
    method: operation.method,
    url: `${path}?${new URLSearchParams(entries)}`,
    headers: {
      ...Object.fromEntries(given),
      ...(operation.body && { 'content-type': 'application/json' }),
    },
    ...(operation.body && { payload: JSON.stringify(body ?? {}) }),
    ...(request.socket.remoteAddress !== undefined && { remoteAddress: request.socket.remoteAddress }),
  });
  if (answer.statusCode === 401) throw credentialRequired();
  const sent = answer.payload === '' ? undefined : (JSON.parse(answer.payload) as Record<string, unknown>);
  if (answer.statusCode < 400) return toResult(sent);
  const { error: code, ...rest } = sent ?? {};
  return toErrorResult({ code, ...rest, status: answer.statusCode });
}

/** Whether a value is a segment of a path, which `.` and `..` would lead elsewhere. */
function isSegment(value: unknown): value is string {
  return typeof value === 'string' && !/^\.{0,2}$/.test(value) && value.isWellFormed();
}
