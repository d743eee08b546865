import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startRegistry } from '../../support/registry.js';
import { serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

interface Opened {
  readonly socket: Socket;
  readonly statuses: () => string[];
}

/** A connection that sends requests and waits for no answer. */
function openConnection(url: string, requests: readonly string[]): Opened {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  socket.write(
    requests
      .map((path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n\r\n`)
      .join(''),
  );
  return { socket, statuses: () => received.match(/(?<=HTTP\/1\.1 )\d{3}(?= )/g) ?? [] };
}

describe('requests that a client sends without waiting', () => {
  it('are answered in their order, and another client between two of them', async () => {
    const { url } = await serviceForTest();
    const other = openConnection(url, ['/health']);
    await waitFor(() => expect(other.statuses()).toEqual(['200']));
    const paths = ['/nope', '/health', '/nodes', '/openapi.json', '/nodes?limit=x', '/ready'];
    const many = openConnection(
      url,
      Array.from({ length: 90 }, (_, at) => paths[at % paths.length] as string),
    );
    await waitFor(() => expect(many.statuses().length).toBeGreaterThan(0));
    other.socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await waitFor(() => expect(other.statuses()).toHaveLength(2));
    expect(many.statuses().length).toBeLessThan(90);
    await waitFor(() => expect(many.statuses()).toHaveLength(90));
    expect(many.statuses().slice(0, 6)).toEqual(['404', '200', '200', '200', '400', '200']);
  });

  it('end the connection if there are hundreds of them, and no other', async () => {
    const { url } = await serviceForTest();
    const other = openConnection(url, ['/health']);
    const many = openConnection(url, Array(1_500).fill('/nope'));
    await new Promise((resolve) => many.socket.once('close', resolve));
    expect(many.statuses().length).toBeLessThan(150);
    other.socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await waitFor(() => expect(other.statuses()).toEqual(['200', '200']));
  });
});

const TICK_MS = 10_000;

function holdIntervals(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Reads until no more comes, then lets time pass. */
async function passTime(socket: Socket, ticks: number): Promise<void> {
  for (let tick = 0; tick < ticks && !socket.destroyed; tick += 1) {
    vi.advanceTimersByTime(TICK_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a client that does not read its answer', () => {
  it('is cut off though it reads a few bytes now and then, for any answer', async () => {
    holdIntervals();
    const registry = await startRegistry();
    onTestFinished(() => registry.service.stop());
    await registry.publish('pack', '1.0.0', { node_version: { changelog: 'x'.repeat(100_000) } });
    await registry.change((tx) =>
      tx.updateTable('versions').set({ status: 'NodeVersionStatusActive' }).execute(),
    );
    const { host, hostname, port } = new URL(registry.url);
    const body = JSON.stringify({ node_versions: Array(90).fill({ node_id: 'pack', version: '1.0.0' }) });
    const socket = connect({ port: Number(port), host: hostname, readableHighWaterMark: 1 } as never);
    onTestFinished(() => void socket.destroy());
    const closed = once(socket, 'close');
    socket.on('error', () => {});
    const head = [`Host: ${host}`, 'Content-Type: application/json', `Content-Length: ${body.length}`];
    socket.pause().write(['POST /bulk/nodes/versions HTTP/1.1', ...head, '', body].join('\r\n'));
    // Until the answer is written, as far as the kernel takes it.
    await waitFor(() => expect(socket.bytesWritten).toBeGreaterThan(body.length));
    for (let minute = 0; minute < 10; minute += 1) {
      socket.read(1_000);
      await passTime(socket, 6);
    }
    socket.resume();
    await closed;
    expect(socket.bytesRead).toBeLessThan(8 * 1024 ** 2);
  });
});
