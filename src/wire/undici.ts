import { subscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import type { Dispatcher, EnvHttpProxyAgent } from 'undici';
import send from 'undici/lib/api/api-request.js';
import connector from 'undici/lib/core/connect.js';
import symbols, { type Parser } from 'undici/lib/core/symbols.js';
import DirectAgent from 'undici/lib/dispatcher/agent.js';
import Pool from 'undici/lib/dispatcher/pool.js';

// The part of undici that a direct connection needs, loaded with the first request: the whole of it takes longer than most.
export const Agent = DirectAgent;
export const buildConnector = connector;

/** Opens connections through the proxies of the environment. */
export async function createProxyAgent(options: EnvHttpProxyAgent.Options): Promise<EnvHttpProxyAgent> {
  const [{ default: Agent }, { default: connect }] = await Promise.all([
    import('undici/lib/dispatcher/env-http-proxy-agent.js'),
    import('undici/lib/api/api-connect.js'),
  ]);
  // Only the index of undici, which is not loaded, gives dispatchers the method that opens a tunnel.
  const clientFactory = (origin: URL, own: object) => Object.assign(new Pool(origin, own), { connect });
  return new Agent({ ...options, clientFactory });
}

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

// undici 7 asserts that its parser is not paused when a connection ends. It is, if a body is read more slowly than it
// arrives, and nothing can catch what an event of a socket throws (nodejs/undici#5360; only undici 8 has a fix, and needs
// Node 22). So the parser takes in what has arrived before undici looks. Every connection is announced on this channel,
// also those to and through proxies; those of another copy of undici in the process have no such parser.
subscribe('undici:client:connected', (message) => {
  const { socket } = message as { readonly socket: EventEmitter & { [symbols.kParser]?: Parser | null } };
  const resumeParser = () => {
    const parser = socket[symbols.kParser];
    if (!parser?.paused) return;
    parser.resume();
    if (!parser.paused) return;
    // The connection is broken, or the body ends with it.
    parser.llhttp.llhttp_resume(parser.ptr);
    parser.paused = false;
  };
  for (const event of ['end', 'error', 'close']) socket.prependListener(event, resumeParser);
});
