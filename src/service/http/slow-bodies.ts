import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerClientError } from './errors.js';

const everyMs = 30_000;
/** Fewer in that time is no transfer. */
const leastBytes = 64 * 1024;

/**
 * Gives a body up whose sender falls silent or only trickles. Node's own bound is on the whole request and would end
 * slow transfers too. What has answered meanwhile still waits for its body, so that is watched as well.
 */
export function watchBody(request: IncomingMessage, response: ServerResponse): void {
  const { headers, socket } = request;
  if (headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)) return;
  let before = socket.bytesRead;
  const watch = setInterval(() => {
    const came = socket.bytesRead - before;
    before = socket.bytesRead;
    if (request.complete || socket.destroyed) return clearInterval(watch);
    if (came >= leastBytes) return;
    clearInterval(watch);
    if (!response.headersSent) answerClientError(new Error('The body came too slowly.'), socket);
    socket.destroySoon();
  }, everyMs);
  watch.unref();
  request.once('close', () => {
    if (request.complete || socket.destroyed) clearInterval(watch);
  });
}
