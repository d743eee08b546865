import { type Contract, contract } from '../contract/index.js';
import { isOperation, type Operation, type OperationTree } from '../contract/operation.js';
import { readJson, requireShape } from './answer.js';
import { InvalidRequestError } from './errors.js';
import { Http, type HttpOptions, type HttpRequest } from './http.js';
import { type Input, type Output, prepareRequest } from './prepare.js';
import {
  type Downloaded,
  type DownloadOptions,
  downloadFile,
  type UploadOptions,
  uploadFile,
} from './transfer.js';
import type { Answer, Headers } from './transport.js';
import { buildUrl, parseBaseUrl, type Query } from './url.js';

export interface ClientOptions<Operations extends OperationTree = Contract>
  extends Omit<HttpOptions, 'baseUrl' | 'socket'> {
  /** The address of the service, such as `https://registry.example`. */
  readonly baseUrl: string;
  /** The path of a Unix socket or named pipe on which the service also listens. Its port is not used then. */
  readonly socketPath?: string | undefined;
  /** The operations that become methods. Default: the whole contract. */
  readonly tree?: Operations;
  /** The maximum size of a successful response. Default 64 MiB. */
  readonly maxAnswerBytes?: number;
}

export interface CallOptions {
  /** Sent as `Idempotency-Key` with a POST. Default: a random key, the same for all attempts. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long an attempt may make no progress. */
  readonly timeoutMs?: number | undefined;
  /** How often the request is repeated at most, if it may be repeated. */
  readonly retries?: number | undefined;
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

export interface Answered<Data> {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Data;
}

export interface RawRequest extends Pick<CallOptions, 'signal' | 'timeoutMs' | 'retries'> {
  readonly method?: string;
  /** A path below the base address, or a URL of the same origin. */
  readonly path: string;
  readonly query?: Query;
  readonly headers?: Headers;
  /** Sent as `application/json` unless `headers` say otherwise. */
  readonly body?: string | Uint8Array | undefined;
}

export type RawAnswer = Pick<Answer, 'status' | 'headers' | 'body' | 'url'>;

interface ClientMethods {
  /** Calls an operation and also returns the status and headers. */
  request<Op extends Operation>(
    operation: Op,
    input: Input<Op>,
    options?: CallOptions,
  ): Promise<Answered<Output<Op>>>;
  /** Sends any request with the credential. Returns responses of any status, with a stream as body. */
  raw(request: RawRequest): Promise<RawAnswer>;
  /** Sends a file to a signed URL, without a credential. */
  upload(url: string, options: UploadOptions): Promise<void>;
  /** Downloads a file, without a credential unless requested for a URL of this service. */
  download(url: string, options: DownloadOptions): Promise<Downloaded>;
  /** Closes all connections immediately. */
  close(): Promise<void>;
}

export type Client<Operations extends OperationTree = Contract> = Calls<Operations> & ClientMethods;

/**
 * Creates a client of one service.
 * @example
 * const client = createClient({ baseUrl: 'http://127.0.0.1:7717' });
 * const node = await client.node.get({ nodeId: 'hello-nodes', include_translations: true });
 */
export function createClient<Operations extends OperationTree = Contract>(
  options: ClientOptions<Operations>,
): Client<Operations> {
  const base = parseBaseUrl(options.baseUrl);
  const socket =
    options.socketPath === undefined ? undefined : { origin: base.origin, path: options.socketPath };
  const http = new Http({ ...options, baseUrl: base, socket });
  const maxBytes = options.maxAnswerBytes ?? 64 * 1024 ** 2;

  const plumbing: ClientMethods = {
    async request(operation, input, call = {}) {
      const { method, path, query, body } = prepareRequest(operation, input, base.href);
      const { idempotencyKey, ...limits } = call;
      const request: HttpRequest = {
        ...limits,
        method,
        safe: operation.safe,
        url: buildUrl(base, path, query),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...createKeyHeader(operation, idempotencyKey),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        credential: true,
      };
      return http.send(request, async (answer) => {
        const data = await readJson(answer, maxBytes, !operation.response);
        if (operation.response) requireShape(answer, operation.response, data);
        return { status: answer.status, headers: answer.headers, data: data as Output<typeof operation> };
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

  const tree = (options.tree ?? contract) as OperationTree;
  const taken = Object.keys(tree).filter((name) => Object.hasOwn(plumbing, name));
  if (taken.length > 0) throw new TypeError(`The tree must not contain a branch named ${taken.join(', ')}.`);
  return { ...createCalls(tree, plumbing), ...plumbing } as Client<Operations>;
}

function createCalls(tree: OperationTree, plumbing: ClientMethods): Record<string, unknown> {
  const entries = Object.entries(tree).map(([name, branch]) => {
    if (!isOperation(branch)) return [name, createCalls(branch, plumbing)];
    const call = async (input: Input<Operation> = {}, options?: CallOptions) =>
      (await plumbing.request(branch, input, options)).data;
    return [name, call];
  });
  return Object.fromEntries(entries);
}

function createKeyHeader({ method, secret, safe }: Operation, given: string | undefined): Headers {
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
