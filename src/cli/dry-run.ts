import { address, baseUrl, fillPath, type Query } from '../client/url.js';
import type { Operation } from '../contract/operation.js';
import { type Invocation, standardPort } from './invocation.js';
import { recordedUrl } from './local.js';
import type { Request } from './request.js';
import { harmless, json } from './text.js';

const secretField = /token|secret|password/i;

/** Prints the request a command would send, secrets masked; nothing is sent and no service is started. */
export async function printDryRun(
  invocation: Invocation,
  operation: Operation,
  request: Request,
): Promise<void> {
  await printRequest(invocation, {
    method: operation.method,
    path: fillPath(operation.path, request.params),
    query: request.query as Query,
    body: operation.body ? (request.body ?? {}) : undefined,
  });
}

/** A request in the parts that are printed. */
export interface PrintedRequest {
  readonly method: string;
  /** Below the service's address. */
  readonly path: string;
  readonly query: Query;
  readonly body?: unknown;
}

/** Prints a request, secrets masked. */
export async function printRequest(invocation: Invocation, request: PrintedRequest): Promise<void> {
  const { output, target, folders } = invocation;
  const { method, path, query } = request;
  const base = baseUrl(target.baseUrl ?? recordedUrl(folders.data) ?? `http://127.0.0.1:${standardPort}`);
  const url = address(base, path, query).href;
  const body = request.body === undefined ? undefined : masked(request.body);
  if (output.mode.json) return output.answer({ method, url, ...(body !== undefined && { body }) });
  await output.line(`${method} ${url}`);
  if (body !== undefined) await output.line(harmless(json(body, 2)));
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    secretField.test(name) && typeof inner === 'string' ? '***' : masked(inner),
  ]);
  return Object.fromEntries(entries);
}
