import { buildUrl, fillPath, parseBaseUrl, type Query } from '../../client/url.js';
import type { WireFormat } from '../../client/wire-format.js';
import type { Output } from '../terminal/output.js';
import { stripControls, toJson } from '../terminal/text.js';
import type { Request } from './build-request.js';

export interface PrintContext {
  readonly output: Output;
  /** The address that requests would go to. */
  readonly services: { readonly shownUrl: string; findFormat(): Promise<WireFormat> };
}

const SECRET_FIELD = /token|secret|password/i;

/** What the printed form of a request depends on. */
type PrintedOperation = { readonly method: string; readonly path: string; readonly body?: unknown };

/** Prints the request that a command would send, with secrets masked. Nothing is sent, and no service is started. */
export async function printDryRun(
  context: PrintContext,
  operation: PrintedOperation,
  request?: Partial<Request>,
): Promise<void> {
  await printRequest(context, toPrintedRequest(operation, request));
}

export function toPrintedRequest(
  { method, path, body: declared }: PrintedOperation,
  { params = {}, query = {}, body }: Partial<Request> = {},
): PrintedRequest {
  return { method, path, params, query: query as Query, body: declared ? (body ?? {}) : undefined };
}

export interface PrintedRequest {
  readonly method: string;
  /** Relative to the address of the service, with the names of `params` in braces. */
  readonly path: string;
  /** Absent if the path is sent as it is, and in the names of the service already. */
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query: Query;
  readonly body?: unknown;
}

export async function printRequest(context: PrintContext, request: PrintedRequest): Promise<void> {
  const { output } = context;
  const { method, url, body } = await toShownRequest(context, request);
  if (output.mode.json || output.mode.ndjson)
    return output.answer({ method, url, ...(body !== undefined && { body }) });
  await output.line(`${method} ${url}`);
  if (body !== undefined) await output.line(stripControls(toJson(body, 2)));
}

/**
 * Prints the requests for several items, with secrets masked; with `--json` as one list.
 * @returns the number of requests
 */
export async function printRequests<Item>(
  context: PrintContext,
  items: AsyncIterable<Item> | Iterable<Item>,
  toRequest: (item: Item) => PrintedRequest | Promise<PrintedRequest>,
): Promise<number> {
  const { output } = context;
  const listed: unknown[] = [];
  let count = 0;
  for await (const item of items) {
    const request = await toRequest(item);
    count += 1;
    if (output.mode.json) listed.push(await toShownRequest(context, request));
    else await printRequest(context, request);
  }
  if (output.mode.json) await output.answer(listed);
  return count;
}

async function toShownRequest({ services }: PrintContext, request: PrintedRequest) {
  const { params, method } = request;
  const prepared = { ...request, body: request.body };
  const { path, query, body } = params ? (await services.findFormat()).writeRequest(prepared) : prepared;
  const filled = params ? fillPath(path, params) : path;
  const url = buildUrl(parseBaseUrl(services.shownUrl), filled, query).href;
  return { method, url, body: body === undefined ? undefined : maskSecrets(body) };
}

function maskSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    SECRET_FIELD.test(name) && typeof inner === 'string' ? '***' : maskSecrets(inner),
  ]);
  return Object.fromEntries(entries);
}
