import type { Contract, OperationName } from '../contract/index.js';
import { isRecord } from '../contract/json.js';
import type { Operation } from '../contract/operation.js';
import { isLoopbackHost } from '../contract/schema/loopback.js';
import { readJson } from './answer.js';
import type { Input, Output, PreparedRequest } from './check-call.js';
import type { Answered, CallOptions, ClientOptions, Connection } from './client-options.js';
import { InvalidRequestError } from './errors.js';
import { Http, type HttpRequest } from './http.js';
import { getOutline, isValidRequest, isValidResponse, type OperationOutline, outlines } from './outlines.js';
import { requireInput } from './require-input.js';
import { downloadFile, inspectFile, uploadFile } from './transfer.js';
import type { Headers } from './transport.js';
import { buildUrl, fillPath, listPathNames, parseBaseUrl, type Query } from './url.js';
import { WireFormat } from './wire-format.js';

type OperationCall<Op extends Operation> =
  Record<never, never> extends Input<Op>
    ? (input?: Input<Op>, options?: CallOptions) => Promise<Output<Op>>
    : (input: Input<Op>, options?: CallOptions) => Promise<Output<Op>>;

/** The tree with a method for each operation. */
export type Calls<Branch> = {
  readonly [Name in keyof Branch]: Branch[Name] extends Operation
    ? OperationCall<Branch[Name]>
    : Calls<Branch[Name]>;
};

interface ClientMethods extends Connection {
  /** Calls an operation by its dotted name, and also returns the status and headers. */
  requestNamed(
    name: OperationName,
    input: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<Answered<unknown>>;
}

export type Client = Calls<Contract> & ClientMethods;

/** Services differ in the form of the two status operations that are extensions; whether each wraps its task. */
const WRAPS_TASK: Readonly<Record<string, boolean>> = {
  '/proxy/imagevendor/v1/ai/image-style-transfer/{task_id}': false,
  '/proxy/imagevendor/v1/ai/skin-enhancer/{task_id}': true,
};

function toOwnForm(path: string, answer: unknown): unknown {
  const wraps = WRAPS_TASK[path];
  if (wraps === undefined || typeof answer !== 'object' || answer === null) return answer;
  const task = 'data' in answer ? answer.data : answer;
  return wraps ? { data: task } : task;
}

/**
 * Creates a client of one service.
 * @example
 * const client = createClient({ baseUrl: 'http://127.0.0.1:7717' });
 * const node = await client.node.get({ nodeId: 'hello-nodes', include_translations: true });
 */
export function createClient(options: ClientOptions): Client {
  requireInput({ options: !isRecord(options) && 'must be an object' });
  const base = parseBaseUrl(options.baseUrl);
  const socket =
    options.socketPath === undefined ? undefined : { origin: base.origin, path: options.socketPath };
  const format = new WireFormat(options);
  const http = new Http({ ...options, baseUrl: base, socket, findErrorCode: format.findErrorCode });
  const maxBytes = options.maxAnswerBytes ?? 64 * 1024 ** 2;

  const plumbing: ClientMethods = {
    baseUrl: base.href,
    packRules: format.packRules,
    async requestNamed(name, input, { idempotencyKey, ...limits } = {}) {
      const outline = getOutline(name);
      const { safe, response } = outline;
      const named = readInput(format, outline, input ?? {});
      let prepared = prepareValid(outline, named);
      if (!prepared) {
        const { prepareRequest, operation } = await loadValidator(name, format);
        prepared = prepareRequest(operation, named as Input<Operation>, base.href);
      }
      const { method, path, params, query, body } = format.writeRequest(prepared);
      const request: HttpRequest = {
        ...limits,
        method,
        safe,
        url: buildUrl(base, fillPath(path, params), query),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...createKeyHeader(outline, idempotencyKey),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        credential: true,
      };
      return http.send(request, async (answer) => {
        const sent = await readJson(answer, maxBytes, !response);
        const data = toOwnForm(outline.path, format.readAnswer(outline, sent));
        if (response && !isValidResponse(outline, data)) {
          const { requireShape, operation } = await loadValidator(name, format);
          requireShape(answer, operation.response as NonNullable<Operation['response']>, data);
        }
        return { status: answer.status, headers: answer.headers, data, body: sent };
      });
    },
    async raw({ method = 'GET', path, query, headers = {}, body, ...limits }) {
      const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      return http.send(
        {
          ...limits,
          method: method.toUpperCase(),
          url: resolveWithinService(base, path, query),
          headers: { ...type, ...Object.fromEntries(lowered) },
          body,
          credential: true,
          anyStatus: true,
        },
        (answer) => answer,
      );
    },
    inspect: (url, options) => inspectFile(http, toOwnAddress(url, base, socket), options),
    upload: (url, upTo) => uploadFile(http, toOwnAddress(url, base, socket), upTo),
    download: (url, downTo) => downloadFile(http, toOwnAddress(url, base, socket), downTo),
    close: () => http.close(),
  };

  return { ...createCalls(plumbing), ...plumbing } as Client;
}

/**
 * The service of a socket may have been started at another port since it wrote an address, and another program may
 * listen at the earlier one.
 */
function toOwnAddress(address: string, base: URL, socket: object | undefined): string {
  if (!socket || !URL.canParse(address)) return address;
  const url = new URL(address);
  if (!isLoopbackHost(url.hostname)) return address;
  return new URL(`${url.pathname}${url.search}`, base).href;
}

/** A method for each operation, in the tree of the contract. */
function createCalls({ requestNamed }: ClientMethods): Record<string, unknown> {
  const tree: Record<string, unknown> = {};
  for (const name of outlines.keys()) {
    const words = name.split('.');
    let branch = tree;
    for (const word of words.slice(0, -1)) {
      branch[word] ??= {};
      branch = branch[word] as Record<string, unknown>;
    }
    branch[words.at(-1) as string] = async (
      input: Readonly<Record<string, unknown>>,
      options?: CallOptions,
    ) => (await requestNamed(name as OperationName, input, options)).data;
  }
  return tree;
}

function prepareValid(
  outline: OperationOutline,
  input: Readonly<Record<string, unknown>>,
): PreparedRequest | undefined {
  const { body, ...given } = input ?? {};
  const names = listPathNames(outline.path);
  const isPath = ([name]: [string, unknown]) => names.includes(name);
  const entries = Object.entries(given);
  const params = Object.fromEntries(entries.filter(isPath));
  const query = Object.fromEntries(entries.filter((entry) => !isPath(entry)));
  if (!isValidRequest(outline, { params, query, body })) return undefined;
  const { method, path } = outline;
  return { method, path, params, query: query as Query, body };
}

/** Loads what checks with the schemas of the contract. That takes longer than most requests, and is rarely needed. */
async function loadValidator(name: string, format: WireFormat) {
  const [{ prepareRequest, requireShape }, { open }] = await Promise.all([
    import('./check-call.js'),
    format.declare(name),
  ]);
  return { prepareRequest, requireShape, operation: open };
}

/** Reads the input of a call, which may have the names of the service. */
function readInput(
  format: WireFormat,
  outline: OperationOutline,
  { body: given, ...fields }: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { query, body } = format.readRequest(outline, { query: fields, body: given });
  return { ...query, ...(body !== undefined && { body }) };
}

function createKeyHeader({ method, secret, safe }: OperationOutline, given: string | undefined): Headers {
  const wrong = (message: string) => new InvalidRequestError([{ path: ['idempotencyKey'], message }]);
  if (method !== 'POST' || secret || safe) {
    if (given !== undefined) throw wrong('is not supported by this operation');
    return {};
  }
  if (given !== undefined && !/^[\x20-\x7e]{1,255}$/.test(given)) {
    throw wrong('must be 1 to 255 printable characters');
  }
  return { 'idempotency-key': given ?? crypto.randomUUID() };
}

function resolveWithinService(base: URL, path: string, query: Query | undefined): URL {
  const wrong = (message: string) => new InvalidRequestError([{ path: ['path'], message }]);
  if (!/^[a-z][a-z0-9+.-]*:/i.test(path))
    return buildUrl(base, path.startsWith('/') ? path : `/${path}`, query);
  if (!URL.canParse(path)) throw wrong('must be a path such as /nodes');
  const url = new URL(path);
  if (url.origin !== base.origin)
    throw wrong(`must be on ${base.origin}, the service that the credential belongs to`);
  return buildUrl(new URL(url.origin), url.pathname + url.search, query);
}
