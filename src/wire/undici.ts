import type { Dispatcher } from 'undici';
import send from 'undici/lib/api/api-request.js';
import DirectAgent from 'undici/lib/dispatcher/agent.js';

// The part of undici that a direct connection needs, loaded with the first request: the whole of it takes longer than most.
export const Agent = DirectAgent;

type RequestOptions = Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'method'> & {
  readonly method?: Dispatcher.HttpMethod;
};

/** Sends a request. Its body may be a text, bytes or a stream. Redirects are not followed. */
export function request(
  dispatcher: Dispatcher,
  { origin, pathname, search }: URL,
  options: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  return send.call(dispatcher, { method: 'GET', ...options, origin, path: pathname + search });
}
