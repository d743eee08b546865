import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';

/** The next request that any HTTP server of this process receives, once its headers have arrived. */
export function waitForRequest(): Promise<IncomingMessage> {
  const started = channel('http.server.request.start');
  return new Promise((resolve) => {
    const take = (message: unknown) => {
      started.unsubscribe(take);
      resolve((message as { request: IncomingMessage }).request);
    };
    started.subscribe(take);
  });
}
