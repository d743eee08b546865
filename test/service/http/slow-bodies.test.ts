import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serviceForTest } from '../../support/service.js';

const halfMinute = 30_000;

/** A connection that has sent the head of a request and the first byte of its body. */
async function begun(url: string, path: string): Promise<{ socket: Socket; answer: () => string }> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.on('error', () => {});
  const head = ['Content-Type: application/json', 'Content-Length: 300000'];
  socket.write([`POST ${path} HTTP/1.1`, `Host: ${host}`, ...head, '', '{'].join('\r\n'));
  return { socket, answer: () => answer };
}

/** The service's clockwork, moved by hand; what the network does takes its own time. */
async function service(): Promise<string> {
  const { url } = await serviceForTest();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  return url;
}

const arrived = () => vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0), { interval: 5 });
const moment = () => new Promise((resolve) => setTimeout(resolve, 100));

describe('a body whose sender falls silent', () => {
  it('is given up, with an answer', async () => {
    const { socket, answer } = await begun(await service(), '/bulk/nodes/versions');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await arrived();
    vi.advanceTimersByTime(2 * halfMinute);
    await closed;
    expect(answer()).toMatch(/^HTTP\/1.1 400 .*too slowly/s);
  });

  it('is given up where the request was refused before it came, too', async () => {
    const { socket, answer } = await begun(await service(), '/nowhere');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await vi.waitFor(() => expect(answer()).toMatch(/^HTTP\/1.1 404 /), { interval: 5 });
    vi.advanceTimersByTime(2 * halfMinute);
    await closed;
  });

  it('is waited for while enough of it goes on coming', async () => {
    const { socket, answer } = await begun(await service(), '/bulk/nodes/versions');
    await arrived();
    for (let part = 0; part < 4; part += 1) {
      socket.write(' '.repeat(70_000));
      await moment();
      vi.advanceTimersByTime(halfMinute);
    }
    socket.write(' '.repeat(300_000 - 1 - 280_000));
    await vi.waitFor(() => expect(answer()).toMatch(/^HTTP\/1.1 400 .*malformed_json/s));
  });
});
