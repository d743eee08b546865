import type { IncomingMessage } from 'node:http';

/** No more is read of a body that was refused. */
const mostBytes = 512 * 1024 ** 2;
const mostMs = 60_000;

/**
 * Reads away what still comes of a body that was refused. A connection closed before that is reset, and a client that
 * sends all before it reads never sees its answer.
 * @returns once all has come, or the connection is given up
 */
export function readAway(body: IncomingMessage): Promise<void> {
  if (body.complete || body.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const end = setTimeout(() => body.socket.destroy(), mostMs);
    let left = mostBytes;
    body.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) body.socket.destroy();
    });
    const done = () => {
      clearTimeout(end);
      resolve();
    };
    body.on('error', done).once('end', done).once('close', done);
    body.resume();
  });
}
