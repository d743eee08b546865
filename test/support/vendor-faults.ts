import type { ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { listenOn } from './listen.js';
import type { StandIn } from './vendors.js';

/** A request to a vendor. */
export interface VendorExchange {
  readonly method: string;
  readonly path: string;
}

/** Answers in place of a vendor. */
export type VendorFault = (response: ServerResponse) => void;

const html = '<!doctype html><title>Bad gateway</title><h1>Bad gateway</h1>';
const answer =
  (status: number, body = '{}', headers: Record<string, string> = {}): VendorFault =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);

/** Answers that say that nothing was done. */
export const REFUSALS: Readonly<Record<string, VendorFault>> = {
  '429 with Retry-After': answer(429, '{"message":"slow down"}', { 'retry-after': '0' }),
  '429 without Retry-After': answer(429),
  '429 with a strange Retry-After': answer(429, '{}', { 'retry-after': 'soon' }),
  '503': answer(503, '{"message":"later"}'),
  'a redirect to a private address': answer(307, '', { location: 'http://10.0.0.1/' }),
};

/** Answers that do not say whether anything was done. */
export const UNCLEAR: Readonly<Record<string, VendorFault>> = {
  '500': answer(500, '{"message":"oops"}'),
  '502 with a page': answer(502, html, { 'content-type': 'text/html' }),
  '200 with a page': answer(200, html, { 'content-type': 'text/html' }),
  'no answer': (response) => void response.destroy(),
  'half an answer': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
    response.write('{"data":', () => response.destroy());
  },
  'too long an answer': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5' });
    response.socket?.end('{"a":1}{"b":2}');
  },
};

/** What is wrong with a file. */
export const FILE_FAULTS: Readonly<Record<string, VendorFault>> = {
  'an expired URL': answer(403, '<Error><Code>AccessDenied</Code></Error>', { 'content-type': 'text/xml' }),
  'a page': answer(200, html, { 'content-type': 'text/html' }),
  'a page that is called an image': answer(200, html, { 'content-type': 'image/png' }),
  nothing: answer(200, '', { 'content-type': 'image/png' }),
  'half a file': (response) => {
    response.writeHead(200, { 'content-length': '5000' });
    response.write(Buffer.alloc(100), () => response.destroy());
  },
  'a redirect to a private address': answer(302, '', { location: 'http://169.254.169.254/latest/' }),
};

/**
 * A proxy in front of a vendor, in whose place `choose` may answer.
 * @param isDone whether the vendor does what was asked nevertheless
 */
export async function faultyVendorForTest(
  vendor: StandIn,
  choose: (exchange: VendorExchange) => VendorFault | undefined,
  isDone = true,
): Promise<StandIn> {
  const target = new URL(vendor.url);
  const { url, close } = await listenOn(async (asked, response) => {
    const parts: Buffer[] = [];
    for await (const part of asked) parts.push(part);
    const { method = 'GET', url: path = '/', headers } = asked;
    const fault = choose({ method, path });
    if (fault && !isDone) return fault(response);
    const { host: _, connection: __, 'content-length': ___, ...passed } = headers;
    const answered = await fetch(target.origin + path, {
      ...{ method, headers: passed as Record<string, string> },
      ...(parts.length > 0 && { body: Buffer.concat(parts) }),
    });
    const body = Buffer.from(await answered.arrayBuffer());
    if (fault) return fault(response);
    const type = answered.headers.get('content-type') ?? '';
    const whole = type.includes('json') ? body.toString().replaceAll(target.origin, url) : body;
    response.writeHead(answered.status, { 'content-type': type }).end(whole);
  });
  onTestFinished(close);
  return { ...vendor, url: url + (target.pathname === '/' ? '' : target.pathname) };
}
