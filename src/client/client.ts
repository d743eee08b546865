import type { Contract, OperationName } from '../contract/index.js';
import type { Naming } from '../contract/naming/naming.js';
import type { Operation, OperationTree } from '../contract/operation.js';
import { readJson } from './answer.js';
import type { Answered, CallOptions, ClientOptions, Connection } from './client-options.js';
import { InvalidRequestError } from './errors.js';
import { Http, type HttpRequest } from './http.js';
import { getOutline, isValidRequest, isValidResponse, type OperationOutline, outlines } from './outlines.js';
import type { Input, Output, PreparedRequest } from './prepare.js';
import { readInput, renameAnswer, renameRequest } from './rename.js';
import { downloadFile, uploadFile } from './transfer.js';
import type { Answer, Headers } from './transport.js';
import { buildUrl, fillPath, listPathNames, parseBaseUrl, type Query } from './url.js';

interface TreeOptions<Operations extends OperationTree = Contract> extends ClientOptions {
  /** The operations that become methods. Default: the whole contract. */
  readonly tree?: Operations;
}

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
  /** Calls an operation and also returns the status and headers. */
  request<Op extends Operation>(
    operation: Op,
    input: Input<Op>,
    options?: CallOptions,
  ): Promise<Answered<Output<Op>>>;
  /** Calls an operation of the contract by its dotted name. */
  requestNamed(
    name: OperationName,
    input: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<Answered<unknown>>;
}

export type Client<Operations extends OperationTree = Contract> = Calls<Operations> & ClientMethods;

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
export function createClient<Operations extends OperationTree = Contract>(
  options: TreeOptions<Operations>,
): Client<Operations> {
  const base = parseBaseUrl(options.baseUrl);
  const socket =
    options.socketPath === undefined ? undefined : { origin: base.origin, path: options.socketPath };
  const http = new Http({ ...options, baseUrl: base, socket });
  const { naming } = options;
  const maxBytes = options.maxAnswerBytes ?? 64 * 1024 ** 2;

  /** @param check throws if the data is not what the operation answers */
  const send = async (
    prepared: PreparedRequest,
    { safe, secret, response }: Pick<Operation, 'safe' | 'secret'> & { readonly response?: unknown },
    { idempotencyKey, ...limits }: CallOptions,
    check: (answer: Answer, data: unknown) => Promise<void> | void,
  ): Promise<Answered<unknown>> => {
    const { method, path, params, query, body } = naming ? renameRequest(naming, prepared) : prepared;
    const request: HttpRequest = {
      ...limits,
      method,
      safe,
      url: buildUrl(base, fillPath(path, params), query),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...createKeyHeader({ method, secret, safe }, idempotencyKey),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      credential: true,
    };
    return http.send(request, async (answer) => {
      const sent = await readJson(answer, maxBytes, !response);
      const data = toOwnForm(prepared.path, naming ? renameAnswer(naming, prepared, sent, 'ours') : sent);
      if (response) await check(answer, data);
      return { status: answer.status, headers: answer.headers, data, body: sent };
    });
  };

  const plumbing: ClientMethods = {
    baseUrl: base.href,
    async request<Op extends Operation>(operation: Op, input: Input<Op>, call: CallOptions = {}) {
      const { prepareRequest, requireShape } = await loadJudge();
      const named = naming ? (readInput(naming, operation, input ?? {}) as Input<Op>) : input;
      const prepared = prepareRequest(operation, named, base.href, naming);
      const answered = await send(prepared, operation, call, (answer, data) => {
        if (operation.response) requireShape(answer, operation.response, data);
      });
      return answered as Answered<Output<Op>>;
    },
    async requestNamed(name, input, call = {}) {
      const outline = getOutline(name);
      const named = naming ? readInput(naming, outline, input ?? {}) : input;
      const prepared = prepareValid(outline, named) ?? (await judgeRequest(name, named, base.href, naming));
      return send(prepared, outline, call, async (answer, data) => {
        if (!isValidResponse(outline, data)) await judgeResponse(name, answer, data);
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
    upload: (url, upTo) => uploadFile(http, url, upTo),
    download: (url, downTo) => downloadFile(http, url, downTo),
    close: () => http.close(),
  };

  const tree = options.tree ?? nestOutlines();
  const taken = Object.keys(tree).filter((name) => Object.hasOwn(plumbing, name));
  if (taken.length > 0) throw new TypeError(`The tree must not contain a branch named ${taken.join(', ')}.`);
  return { ...createCalls(tree, plumbing), ...plumbing } as Client<Operations>;
}

interface NameTree {
  readonly [name: string]: OperationName | NameTree;
}

/** The tree of the contract, with names instead of operations. */
function nestOutlines(): NameTree {
  const tree: Record<string, never> = {};
  for (const name of outlines.keys()) {
    const words = name.split('.');
    let branch: Record<string, unknown> = tree;
    for (const word of words.slice(0, -1)) {
      branch[word] ??= {};
      branch = branch[word] as Record<string, unknown>;
    }
    branch[words.at(-1) as string] = name;
  }
  return tree;
}

function createCalls(tree: OperationTree | NameTree, plumbing: ClientMethods): Record<string, unknown> {
  const entries = Object.entries(tree).map(([name, branch]) => {
    if (typeof branch !== 'string' && typeof branch.path !== 'string')
      return [name, createCalls(branch as OperationTree | NameTree, plumbing)];
    const call = async (input: Input<Operation> = {}, options?: CallOptions) => {
      const answered =
        typeof branch === 'string'
          ? await plumbing.requestNamed(branch as OperationName, input as Record<string, unknown>, options)
          : await plumbing.request(branch as Operation, input, options);
      return answered.data;
    };
    return [name, call];
  });
  return Object.fromEntries(entries);
}

/** Prepares a request, if it is certainly valid. */
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
async function loadJudge() {
  const [{ prepareRequest }, { requireShape }] = await Promise.all([
    import('./prepare.js'),
    import('./require-shape.js'),
  ]);
  return { prepareRequest, requireShape };
}

async function loadOperation(name: string): Promise<Operation> {
  const { getOperation } = await import('../contract/index.js');
  return getOperation(name);
}

/** @throws InvalidRequestError with everything that is wrong */
async function judgeRequest(
  name: string,
  input: unknown,
  service: string,
  naming: Naming | undefined,
): Promise<PreparedRequest> {
  const [{ prepareRequest }, operation] = await Promise.all([loadJudge(), loadOperation(name)]);
  return prepareRequest(operation, input as Input<Operation>, service, naming);
}

/** @throws ResponseError */
async function judgeResponse(name: string, answer: Answer, data: unknown): Promise<void> {
  const [{ requireShape }, operation] = await Promise.all([loadJudge(), loadOperation(name)]);
  requireShape(answer, operation.response as NonNullable<Operation['response']>, data);
}

function createKeyHeader(
  {
    method,
    secret,
    safe,
  }: { readonly method: string } & Partial<Record<'secret' | 'safe', true | undefined>>,
  given: string | undefined,
): Headers {
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
