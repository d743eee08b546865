import type { Server } from 'node:http';
import type { Queue } from './queue.js';

export interface WatchIdleOptions {
  readonly server: Server;
  readonly queue: Pick<Queue, 'hasWorkBy'>;
  readonly now: () => number;
  /** How long the service may be idle. Milliseconds. */
  readonly idleMs: number;
  readonly end: () => void;
}

/**
 * Ends a service without requests in progress and jobs running or due soon. Later jobs run at the next start.
 * @returns a function that stops watching
 */
export function watchIdle({ server, queue, now, idleMs, end }: WatchIdleOptions): () => void {
  let inProgress = 0;
  let lastUse = now();
  server.on('request', (_request, response) => {
    inProgress += 1;
    response.once('close', () => {
      inProgress -= 1;
      lastUse = now();
    });
  });

  const look = async () => {
    const time = now();
    if (inProgress > 0 || (await queue.hasWorkBy(time + idleMs))) lastUse = time;
    if (inProgress === 0 && now() - lastUse >= idleMs) end();
  };
  const timer = setInterval(() => void look().catch(() => {}), Math.min(Math.max(idleMs / 10, 10), 10_000));
  return () => clearInterval(timer);
}
