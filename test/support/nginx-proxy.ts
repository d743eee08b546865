import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { request as sendSecurely } from 'node:https';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { findFreePort, listenOn } from './listen.js';

/** A proxy in front of services. */
export interface Proxy {
  readonly name: string;
  /** Of https with a certificate of its own, if it is nginx. */
  readonly url: string;
  close(): Promise<void>;
}

/** The public URL of the services, whose name clients send as Host. */
export const publicUrl = 'https://registry.example.com';

/**
 * nginx with the configuration of the examples (Debian's package nginx-light) and a certificate of openssl; where these
 * are missing, a proxy that does what nginx does.
 * @param ports where the services listen on loopback
 * @param folder for files of nginx
 */
export async function startProxy(ports: readonly number[], folder: string): Promise<Proxy> {
  const isMissing = ['nginx', 'openssl'].some((name) => spawnSync(name, ['-v']).error);
  return isMissing ? await startOwnProxy(ports) : await startNginx(ports, folder);
}

async function startNginx(ports: readonly number[], folder: string): Promise<Proxy> {
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=registry.example.com', '-days', '2'];
  const made = ['-keyout', key, '-out', certificate];
  spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...made, ...subject]);
  const port = await findFreePort();
  const site = readFileSync('examples/service/nginx.conf', 'utf8')
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace(/server 127.0.0.1:7717(.*;)/, (_, rest) =>
      ports.map((one) => `server 127.0.0.1:${one}${rest}`).join(' '),
    )
    .replace(/ssl_certificate .*/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key .*/, `ssl_certificate_key ${key};`);
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = folders.map((name) => `${name}_temp_path ${join(folder, name)};`).join(' ');
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {} http { access_log off; ${paths}\n${site}}`,
  );
  const child = spawn('nginx', ['-p', folder, '-c', file]);
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const url = `https://127.0.0.1:${port}`;
  while (!(await sendThrough(url, '/health').catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${said}`);
    await pause(50);
  }
  const close = async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  };
  return { name: 'nginx', url, close };
}

async function startOwnProxy(ports: readonly number[]): Promise<Proxy> {
  let turn = 0;
  const { url, close } = await listenOn(async (asked, answer) => {
    const body = await buffer(asked);
    const { method, url: path, headers } = asked;
    turn += 1;
    const first = turn;
    for (const [at] of ports.entries()) {
      const port = ports[(first + at) % ports.length];
      const isLast = at === ports.length - 1;
      const sending = sendRequest({ host: '127.0.0.1', port, method, path, headers, agent: false });
      const response = new Promise<IncomingMessage>((resolve, reject) => {
        sending.once('response', resolve).once('error', reject);
      });
      sending.end(body);
      try {
        const given = await response;
        const bytes = await buffer(given);
        if (given.statusCode === 503 && method !== 'POST' && !isLast) continue;
        return void answer.writeHead(given.statusCode as number, given.headers).end(bytes);
      } catch (error) {
        // What a service may have begun is not sent to another one.
        const isUnsent = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
        if (isLast || (method === 'POST' && !isUnsent)) return void answer.writeHead(502).end();
      }
    }
  });
  return { name: 'a proxy', url, close };
}

interface SentRequest {
  readonly method?: string;
  readonly token?: string;
  readonly json?: unknown;
  /** Sends it over a connection of its own. */
  readonly isAlone?: boolean;
}

/** @throws Error if there is no answer */
export async function sendThrough(
  url: string,
  path: string,
  { method = 'GET', token, json, isAlone }: SentRequest = {},
): Promise<{ status: number; body: Buffer }> {
  const send = url.startsWith('https:') ? sendSecurely : sendRequest;
  const sending = send(url + path, {
    method,
    rejectUnauthorized: false,
    ...(isAlone && { agent: false }),
    headers: {
      host: new URL(publicUrl).host,
      ...(token && { authorization: `Bearer ${token}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    sending.once('response', resolve).once('error', reject);
  });
  sending.end(json === undefined ? undefined : JSON.stringify(json));
  const given = await response;
  return { status: given.statusCode as number, body: await buffer(given) };
}
