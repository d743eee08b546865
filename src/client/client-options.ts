import type { Naming } from '../contract/naming/naming.js';
import type { HttpOptions } from './http.js';
import type { Downloaded, DownloadOptions, UploadOptions } from './transfer.js';
import type { Answer, Headers } from './transport.js';
import type { Query } from './url.js';

export interface ClientOptions extends Omit<HttpOptions, 'baseUrl' | 'socket' | 'findErrorCode'> {
  /** The address of the service, such as `https://registry.example`. */
  readonly baseUrl: string;
  /** The path of a Unix socket or named pipe on which the service also listens. Its port is not used then. */
  readonly socketPath?: string | undefined;
  /** The names of the service, if they are not those of the contract. See `loadNaming`. */
  readonly naming?: Naming | undefined;
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

export interface Answered<Data> {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Data;
  /** The body as the service sent it, with the names of the service. */
  readonly body: unknown;
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

/** What a client has beside its operations. */
export interface Connection {
  /** The address of the service. */
  readonly baseUrl: string;
  /** What the registry accepts of a pack beyond the contract. */
  readonly packRules: {
    readonly anyPublisherId?: boolean | undefined;
    readonly completesVersions?: boolean | undefined;
  };
  /** Sends any request with the credential. Returns responses of any status, with a stream as body. */
  raw(request: RawRequest): Promise<RawAnswer>;
  /** Sends a file to a signed URL, without a credential. */
  upload(url: string, options: UploadOptions): Promise<void>;
  /** Reads the status and headers of a file, with the credential if it is a URL of this service. */
  inspect(url: string, options?: Pick<CallOptions, 'signal'>): Promise<Pick<Answer, 'status' | 'headers'>>;
  /** Downloads a file, without a credential unless requested for a URL of this service. */
  download(url: string, options: DownloadOptions): Promise<Downloaded>;
  /** Closes all connections immediately. */
  close(): Promise<void>;
}
