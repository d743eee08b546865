import { address, baseUrl, fillPath } from '../client/url.js';
import type { Operation } from '../contract/operation.js';
import { type Invocation, standardPort } from './invocation.js';
import type { Request } from './request.js';
import { harmless, json } from './text.js';

const secretField = /token|secret|password/i;

/** Prints the request a command would send, secrets masked; nothing is sent and no service is started. */
export async function printDryRun(
  invocation: Invocation,
  operation: Operation,
  request: Request,
): Promise<void> {
  const { output, target } = invocation;
  const base = target.baseUrl ?? `http://127.0.0.1:${standardPort}`;
  const url = address(baseUrl(base), fillPath(operation.path, request.params), request.query as never).href;
  const body = operation.body ? masked(request.body ?? {}) : undefined;
  if (output.mode.json)
    return output.answer({ method: operation.method, url, ...(body !== undefined && { body }) });
  await output.line(`${operation.method} ${url}`);
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
