import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { serviceForTest } from '../../support/service.js';

/** Sends a whole request before it reads any of the answer, as simple clients do. */
function sendAllFirst(url: string, head: string[], body: Buffer): Promise<string> {
  const { hostname, port, host } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const lines = [...head, `Host: ${host}`, `Content-Length: ${body.length}`, 'Connection: close'];
    socket.on('error', reject).pause();
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    // In parts, because what one write hands over may all be on its way before the service sees any of it.
    const send = (at: number) => {
      if (at < body.length) socket.write(body.subarray(at, at + 65_536), () => send(at + 65_536));
      else read();
    };
    const read = () => {
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('close', () => resolve(answer)).resume();
    };
    send(0);
  });
}

it.each([
  ['is too large', 413, ['POST /bulk/nodes/versions HTTP/1.1', 'Content-Type: application/json']],
  ['is no JSON', 415, ['POST /bulk/nodes/versions HTTP/1.1', 'Content-Type: text/plain']],
  ['comes without a credential', 401, ['POST /publishers HTTP/1.1', 'Content-Type: application/json']],
  ['leads nowhere', 404, ['POST /nowhere HTTP/1.1', 'Content-Type: application/json']],
  ['is an upload without a signature', 403, ['PUT /uploads/a/b/1.0.0/node.zip HTTP/1.1']],
])('a body that %s is read to its end, so that its sender sees the answer', async (_title, status, head) => {
  const { url } = await serviceForTest({ limits: { jsonBody: 1_000_000 } });
  const answer = await sendAllFirst(url, head, Buffer.alloc(20_000_000, 'a'));
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});
