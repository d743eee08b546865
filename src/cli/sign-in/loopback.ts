import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { rejectOnAbort } from '../terminal/interrupted.js';

/** The address a browser comes back to, open for one answer. */
export interface Door {
  readonly address: string;
  /** The address it came back to, with all the issuer said there. Fails with the signal's reason. */
  answered(signal: AbortSignal): Promise<URL>;
  /** Shows the browser that came how it ended, and lets nobody else in. */
  close(title: string, text: string): Promise<void>;
}

const path = '/callback';

/**
 * Waits on a free port of loopback for the one request that brings the state back; all others are turned away, so
 * that no page and no other program of this machine can answer in the issuer's place.
 */
export async function openDoor(state: string): Promise<Door> {
  let guest: ServerResponse | undefined;
  let come: (url: URL) => void = () => {};
  const coming = new Promise<URL>((done) => {
    come = done;
  });
  const server = createServer((request, response) => {
    const url = guest ? undefined : comingBack(request, address, state);
    if (!url)
      return void response.writeHead(404, headers).end(formatPage('Nothing here', 'Nobody is expected.'));
    guest = response;
    come(url);
  });
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return {
    address,
    answered: (signal) => Promise.race([coming, rejectOnAbort(signal)]),
    async close(title, text) {
      guest?.writeHead(200, headers).end(formatPage(title, text));
      await closeServer(server, guest);
    },
  };
}

/** The host is checked, so that no name that somebody points at this machine leads here. */
function comingBack({ method, url = '', headers }: IncomingMessage, address: string, state: string) {
  const { host, origin, pathname } = new URL(address);
  if (method !== 'GET' || headers.host !== host || !URL.canParse(url, origin)) return undefined;
  const asked = new URL(url, origin);
  const isOurs = asked.pathname === pathname && asked.searchParams.get('state') === state;
  return isOurs ? asked : undefined;
}

async function closeServer(server: Server, guest: ServerResponse | undefined): Promise<void> {
  // A browser that went away while we worked never closes again.
  if (guest) await Promise.race([new Promise((done) => guest.once('close', done)), pause(1_000)]);
  await new Promise((done) => {
    server.close(done);
    server.closeAllConnections();
  });
}

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
};

const style =
  'body{font:18px/1.5 system-ui,sans-serif;max-width:30em;margin:20vh auto;padding:0 1em;color-scheme:light dark}';

function formatPage(title: string, text: string): string {
  const body = `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>`;
  return `<!doctype html><html lang="en"><title>regen</title><style>${style}</style>${body}</html>\n`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
