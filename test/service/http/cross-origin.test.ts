import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { Configuration } from '../../../src/service/configuration/configuration.js';
import { createHostCheck } from '../../../src/service/http/cross-origin.js';
import { serviceForTest } from '../../support/service.js';

describe('pages of other origins', () => {
  const origin = 'https://app.example.org';
  const preflight = { 'access-control-request-method': 'PUT' };

  it('may read answers if their origin is configured', async () => {
    const { url } = await serviceForTest({ cors: { origins: [`${origin}/`] } });
    const asked = await fetch(`${url}/publishers/x`, {
      method: 'OPTIONS',
      headers: { origin, ...preflight },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(origin);
    expect(asked.headers.get('access-control-allow-headers')).toContain('authorization');
    const { headers } = await fetch(`${url}/nodes`, { headers: { origin } });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    const other = await fetch(`${url}/nodes`, { headers: { origin: 'https://evil.example.org' } });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('may not read answers if no origin is configured', async () => {
    const { url } = await serviceForTest();
    const asked = await fetch(`${url}/publishers/x`, {
      method: 'OPTIONS',
      headers: { origin, ...preflight },
    });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([405, null]);
  });
});

describe('a check of hosts', () => {
  const check = (input: object) => createHostCheck({ configuration: Configuration.parse(input) });

  it('accepts the public host, and every host if the service does not listen on loopback', () => {
    const behindProxy = check({ publicUrl: 'https://regen.example.org' });
    expect(behindProxy('regen.example.org')).toBe(true);
    expect(behindProxy('other.example.org')).toBe(false);
    expect(check({})('localhost:65535')).toBe(true);
    for (const port of ['65536', '99999', '123456', '']) expect(check({})(`localhost:${port}`)).toBe(false);
    expect(check({ host: '0.0.0.0' })('other.example.org')).toBe(true);
  });
});

it.each([
  'Host',
  'Authorization',
  'Idempotency-Key',
  'Content-Type',
  'Content-Range',
  'Range',
  'If-Range',
  'Origin',
])('a request with two %s headers is refused, also where the answer is kept', async (name) => {
  const { url } = await serviceForTest();
  const { host, hostname, port } = new URL(url);
  await fetch(`${url}/nodes`);
  for (const path of ['/nodes', '/health']) {
    const socket = connect(Number(port), hostname);
    const headers = [`Host: ${host}`, `${name}: ${host}`, ...(name === 'Host' ? [] : [`${name}: other`])];
    socket.end(`GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(
      new RegExp(`^HTTP/1\\.1 400 .*The header ${name} must not appear twice`, 's'),
    );
  }
});

it('a request with two keys in the header of another service is refused', async () => {
  const { url } = await serviceForTest({ naming: 'comfy' });
  const { host, hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.end(
    `GET /nodes HTTP/1.1\r\nHost: ${host}\r\nX-API-KEY: a\r\nX-API-Key: b\r\nConnection: close\r\n\r\n`,
  );
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 .*must not appear twice/s);
});
