import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { closeServers } from '../../../src/service/http/listen.js';

const BUSY_MS = 3;
const ROUNDS = 8;
const CLIENTS = 8;

/** Clients of their own thread, each with a new connection for each request; they end once they are refused. */
const clients = `
  const { request } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  const send = (port) => new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, agent: false, method: 'POST' }, (answer) => answer.resume().on('end', resolve))
      .on('error', reject)
      .end('text');
  });
  parentPort.on('message', async (port) => {
    let reset = 0;
    await Promise.all(Array.from({ length: ${CLIENTS} }, async () => {
      try {
        for (;;) await send(port);
      } catch ({ syscall }) {
        // A connection that fails at once goes to another service.
        if (syscall !== 'connect') reset += 1;
      }
    }));
    parentPort.postMessage(reset);
  });`;

test('a server that always has requests waiting ends without resetting connections', async () => {
  const worker = new Worker(clients, { eval: true });
  let reset = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let answered = 0;
    const http = createServer((request, response) => {
      request.resume();
      for (const begun = performance.now(); performance.now() - begun < BUSY_MS; );
      response.shouldKeepAlive = false;
      answered += 1;
      response.end();
    }).listen(0, '127.0.0.1');
    const socket = createSocketServer().listen(0, '127.0.0.1');
    await Promise.all([once(http, 'listening'), once(socket, 'listening')]);
    worker.postMessage((http.address() as AddressInfo).port);
    await expect.poll(() => answered).toBeGreaterThan(CLIENTS * 2);
    const ended = once(worker, 'message');
    await closeServers(http, socket, 2_000);
    reset += (await ended)[0];
  }
  await worker.terminate();
  // The kernel leaves microseconds between the last look for connections and the end.
  expect(reset).toBeLessThan(ROUNDS / 2);
});
