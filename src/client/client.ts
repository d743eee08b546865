import { type Contract, contract } from '../contract/index.js';
import { isOperation, type Operation, type Tree } from '../contract/operation.js';
import { readJson } from './answer.js';
import { InvalidRequestError } from './errors.js';
import { Http, type HttpOptions, type HttpRequest } from './http.js';
import { type Input, type Output, prepare } from './prepare.js';
import { type Downloaded, type DownloadOptions, download, type UploadOptions, upload } from './transfer.js';
import type { Answer, Headers } from './transport.js';
import { address, baseUrl, type Query } from './url.js';

export interface ClientOptions<Operations extends Tree = Contract> extends Omit<HttpOptions, 'baseUrl'> {
  /** The service's address, such as `https://registry.example`. */
  readonly baseUrl: string;
  /** The operations that become methods. Default: the whole contract. */
  readonly tree?: Operations;
  /** The largest success that is accepted. Default 64 MiB. */
  readonly maxAnswerBytes?: number;
}

export interface CallOptions {
  /** Sent as `Idempotency-Key` with a POST; absent: a random one, the same for all its repeats. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** One attempt, its answer included. */
  readonly timeoutMs?: number | undefined;
  /** All attempts and the pauses between them. */
  readonly totalTimeoutMs?: number | undefined;
  /** How often the request is repeated at most, where it may be. */
  readonly retries?: number | undefined;
}

type Call<Op extends Operation> =
  Record<never, never> extends Input<Op>
    ? (input?: Input<Op>, options?: CallOptions) => Promise<Output<Op>>
    : (input: Input<Op>, options?: CallOptions) => Promise<Output<Op>>;

/** The tree with a method in place of each operation. */
export type Calls<Branch> = {
  readonly [Name in keyof Branch]: Branch[Name] extends Operation ? Call<Branch[Name]> : Calls<Branch[Name]>;
};

export interface Answered<Data> {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Data;
}

export interface RawRequest extends Pick<CallOptions, 'signal' | 'retries'> {
  /** How long nothing may move. Default 60 s. */
  readonly timeoutMs?: number | undefined;
  readonly method?: string;
  /** A path below the base address, or an address of the same origin. */
  readonly path: string;
  readonly query?: Query;
  readonly headers?: Headers;
  /** Sent as `application/json` unless `headers` say otherwise. */
  readonly body?: string | Uint8Array | undefined;
}

export type RawAnswer = Pick<Answer, 'status' | 'headers' | 'body' | 'url'>;

interface Plumbing {
  /** Calls an operation and tells the status and headers, too. */
  request<Op extends Operation>(
    operation: Op,
    input: Input<Op>,
    options?: CallOptions,
  ): Promise<Answered<Output<Op>>>;
  /** Any request to the service with its credential. Answers of every status come back, their body as a stream. */
  raw(request: RawRequest): Promise<RawAnswer>;
  /** Sends one file to a signed URL, without any credential. */
  upload(url: string, options: UploadOptions): Promise<void>;
  /** Fetches one file, without any credential unless asked for and from this service. */
  download(url: string, options: DownloadOptions): Promise<Downloaded>;
  /** Ends all connections at once. */
  close(): Promise<void>;
}

export type Client<Operations extends Tree = Contract> = Calls<Operations> & Plumbing;

/**
 * A client of one service.
 * @example
 * const client = createClient({ baseUrl: 'http://127.0.0.1:7717' });
 * const node = await client.node.get({ nodeId: 'hello-nodes', include_translations: true });
 */
export function createClient<Operations extends Tree = Contract>(
  options: ClientOptions<Operations>,
): Client<Operations> {
  const base = baseUrl(options.baseUrl);
  const http = new Http({ ...options, baseUrl: base });
  const maxBytes = options.maxAnswerBytes ?? 64 * 1024 ** 2;

  const plumbing: Plumbing = {
    async request(operation, input, call = {}) {
      const { method, path, query, body } = prepare(operation, input, base.href);
      const { idempotencyKey, ...limits } = call;
      const request: HttpRequest = {
        ...limits,
        method,
        url: address(base, path, query),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...keyHeader(operation, idempotencyKey),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        credential: true,
      };
      return http.send(request, async (answer) => {
        const data = (await readJson(answer, maxBytes, !operation.response)) as Output<typeof operation>;
        return { status: answer.status, headers: answer.headers, data };
      });
    },
    async raw({ method = 'GET', path, query, headers = {}, body, timeoutMs = 60_000, ...limits }) {
      const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      return http.send(
        {
          ...limits,
          method: method.toUpperCase(),
          url: withinService(base, path, query),
          headers: { ...type, ...Object.fromEntries(lowered) },
          body,
          credential: true,
          idleMs: timeoutMs,
          anyStatus: true,
        },
        (answer) => answer,
      );
    },
    upload: (url, upTo) => upload(http, url, upTo),
    download: (url, downTo) => download(http, url, downTo),
    close: () => http.close(),
  };

  const tree = (options.tree ?? contract) as Tree;
  const taken = Object.keys(tree).filter((name) => Object.hasOwn(plumbing, name));
  if (taken.length > 0) throw new TypeError(`The tree must not have a branch named ${taken.join(', ')}.`);
  return { ...callsOf(tree, plumbing), ...plumbing } as Client<Operations>;
}

function callsOf(tree: Tree, plumbing: Plumbing): Record<string, unknown> {
  const entries = Object.entries(tree).map(([name, branch]) => {
    if (!isOperation(branch)) return [name, callsOf(branch, plumbing)];
    const call = async (input: Input<Operation> = {}, options?: CallOptions) =>
      (await plumbing.request(branch, input, options)).data;
    return [name, call];
  });
  return Object.fromEntries(entries);
}

function keyHeader({ method, secret }: Operation, given: string | undefined): Headers {
  const wrong = (message: string) => new InvalidRequestError([{ path: ['idempotencyKey'], message }]);
  if (method !== 'POST' || secret) {
    if (given !== undefined) throw wrong('is not honoured by this operation');
    return {};
  }
  if (given !== undefined && !/^[\x20-\x7e]{1,255}$/.test(given)) {
    throw wrong('must be 1 to 255 printable characters');
  }
  return { 'idempotency-key': given ?? crypto.randomUUID() };
}

function withinService(base: URL, path: string, query: Query | undefined): URL {
  const wrong = (message: string) => new InvalidRequestError([{ path: ['path'], message }]);
  if (!/^[a-z][a-z0-9+.-]*:/i.test(path))
    return address(base, path.startsWith('/') ? path : `/${path}`, query);
  if (!URL.canParse(path)) throw wrong('must be a path such as /nodes');
  const url = new URL(path);
  if (url.origin !== base.origin) throw wrong(`must be on ${base.origin}, where the credential belongs`);
  return address(new URL(url.origin), url.pathname + url.search, query);
}
