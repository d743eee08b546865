import type { Server } from 'node:http';
import type { Queue } from './queue/queue.js';

export interface IdleParts {
  readonly server: Server;
  readonly queue: Pick<Queue, 'busyBy'>;
  readonly now: () => number;
  /** How long nothing happens before the service ends. Milliseconds. */
  readonly idleMs: number;
  readonly end: () => void;
}

/**
 * Ends a service nobody needs: no request under way and no job running or due soon, for `idleMs`. What is due later is
 * done at the next start.
 * @returns stops the watch
 */
export function watchIdle({ server, queue, now, idleMs, end }: IdleParts): () => void {
  let underWay = 0;
  let lastUse = now();
  server.on('request', (_request, response) => {
    underWay += 1;
    response.once('close', () => {
      underWay -= 1;
      lastUse = now();
    });
  });

  const look = async () => {
    const time = now();
    if (underWay > 0 || (await queue.busyBy(time + idleMs))) lastUse = time;
    if (underWay === 0 && now() - lastUse >= idleMs) end();
  };
  const timer = setInterval(() => void look().catch(() => {}), Math.min(Math.max(idleMs / 10, 10), 10_000));
  return () => clearInterval(timer);
}
