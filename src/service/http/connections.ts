import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that wait for the one before them; a client that sends more is cut off. */
const MAX_WAITING = 100;

/**
 * Serves the requests of a connection one after another, each in a turn of its own. Node reads thousands of them out of one
 * packet and would serve all of them at once, before any other connection, and keep all their answers until they are read.
 */
export function serveInTurn(serve: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    // Node gives a response its socket once the response before it has been sent.
    if (response.socket !== null) return serve(request, response);
    const { socket } = request;
    const ahead = waiting.get(socket) ?? 0;
    if (ahead >= MAX_WAITING) return void socket.destroy();
    waiting.set(socket, ahead + 1);
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) as number) - 1);
      setImmediate(serve, request, response);
    });
  };
}

const TICK_MS = 10_000;
/** Almost two minutes: the kernel holds megabytes that are not read, and takes more once much of it is read. */
const PATIENT_TICKS = 11;
/** After that, a reader that is slower than this on average is cut off. */
const MIN_BYTES_PER_TICK = 20 * 1024;

/**
 * Cuts off clients that do not read their answers, each of which holds a connection and memory. Counted in ticks, so that a
 * pause of this process takes up one at most.
 */
export function watchReaders(server: Server): void {
  server.on('connection', (socket: Socket) => {
    let ticks = 0;
    let before = 0;
    const watch = setInterval(() => {
      // What waits in memory counts as written.
      const sent = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0) ticks = 0;
      else if (ticks++ === 0) before = sent;
      else if (sent - before < (ticks - PATIENT_TICKS) * MIN_BYTES_PER_TICK) socket.destroy();
    }, TICK_MS);
    watch.unref();
    socket.once('close', () => clearInterval(watch));
  });
}
