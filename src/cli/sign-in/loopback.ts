import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { rejectOnAbort } from '../terminal/interrupted.js';

/** A local address that the browser returns to after the sign-in. */
export interface Callback {
  readonly address: string;
  /** Resolves to the address of the redirect, with its query. Rejects with the signal's reason. */
  waitForRedirect(signal: AbortSignal): Promise<URL>;
  /** Shows the result in the browser, and closes the server. */
  close(title: string, text: string): Promise<void>;
}

const CALLBACK_PATH = '/callback';

/**
 * Listens on a free loopback port for the one request with the right state. All others get 404, so that no page and no
 * other program can answer instead of the issuer.
 */
export async function openCallback(state: string): Promise<Callback> {
  let browser: ServerResponse | undefined;
  let resolveRedirect: (url: URL) => void = () => {};
  const redirect = new Promise<URL>((done) => {
    resolveRedirect = done;
  });
  const server = createServer((request, response) => {
    const url = browser ? undefined : matchRedirect(request, address, state);
    if (!url)
      return void response
        .writeHead(404, PAGE_HEADERS)
        .end(formatPage('Not found', 'This address is not in use.'));
    browser = response;
    resolveRedirect(url);
  });
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}${CALLBACK_PATH}`;
  return {
    address,
    waitForRedirect: (signal) => Promise.race([redirect, rejectOnAbort(signal)]),
    async close(title, text) {
      browser?.writeHead(200, PAGE_HEADERS).end(formatPage(title, text));
      await closeServer(server, browser);
    },
  };
}

/** Checks the host as well, so that other domain names that resolve to this machine do not match. */
function matchRedirect({ method, url = '', headers }: IncomingMessage, address: string, state: string) {
  const { host, origin, pathname } = new URL(address);
  if (method !== 'GET' || headers.host !== host || !URL.canParse(url, origin)) return undefined;
  const target = new URL(url, origin);
  const matches = target.pathname === pathname && target.searchParams.get('state') === state;
  return matches ? target : undefined;
}

async function closeServer(server: Server, browser: ServerResponse | undefined): Promise<void> {
  // A browser that has already disconnected emits no close event.
  if (browser) await Promise.race([new Promise((done) => browser.once('close', done)), pause(1_000)]);
  await new Promise((done) => {
    server.close(done);
    server.closeAllConnections();
  });
}

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
};

const PAGE_STYLE =
  'body{font:18px/1.5 system-ui,sans-serif;max-width:30em;margin:20vh auto;padding:0 1em;color-scheme:light dark}';

function formatPage(title: string, text: string): string {
  const body = `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>`;
  return `<!doctype html><html lang="en"><title>regen</title><style>${PAGE_STYLE}</style>${body}</html>\n`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
