import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Started, start } from '../support/cli.js';
import { folderForTest } from '../support/service.js';
import { waitFor } from '../support/wait-for.js';

/** Without nginx (Debian's package nginx-light) or openssl the configuration is not tried. */
const isMissing = ['nginx', 'openssl'].some((name) => spawnSync(name, ['-v']).error);

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** nginx with the configuration of the examples, in front of two services. @returns where it listens */
async function startNginx(services: readonly number[]): Promise<number> {
  const folder = folderForTest();
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=registry.example.com', '-days', '2'];
  spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key,
    '-out',
    certificate,
    ...subject,
  ]);
  const port = await findFreePort();
  const site = readFileSync('examples/service/nginx.conf', 'utf8')
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('server 127.0.0.1:7717;', services.map((one) => `server 127.0.0.1:${one};`).join(' '))
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
  onTestFinished(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  });
  await waitFor(async () => expect(await ask(port, new Agent(insecure)), said).toBe(200));
  return port;
}

const insecure = { rejectUnauthorized: false, keepAlive: true, maxSockets: 1 };

/** @returns the status of an answer, or the code of an error */
function ask(port: number, agent: Agent): Promise<number | string> {
  const headers = { host: 'registry.example.com' };
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/nodes', agent, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode as number));
      answer.on('error', ({ message }) => resolve(message));
    }).on('error', ({ message }) => resolve(message));
  });
}

test.skipIf(isMissing)(
  'behind nginx as in the examples, no request fails while one of two services is started again',
  async () => {
    const env = {
      REGEN_SERVE_TRUSTED_PROXIES: '["127.0.0.1"]',
      REGEN_SERVE_PUBLIC_URL: 'https://registry.example.com',
      REGEN_SERVE_RATE_LIMIT: 'false',
      REGEN_SERVE_DRAIN_MS: '500',
    };
    const startOne = async (port: number, data: string): Promise<Started> => {
      const one = start(['serve', '--port', `${port}`, '--data', data], { env });
      onTestFinished(() => void one.child.kill('SIGKILL'));
      await once(one.child.stdout as NodeJS.ReadableStream, 'data');
      return one;
    };
    const ports = [await findFreePort(), await findFreePort()] as const;
    const data = folderForTest();
    const one = await startOne(ports[0], data);
    await startOne(ports[1], folderForTest());
    const port = await startNginx(ports);
    const outcomes: (number | string)[] = [];
    let isOver = false;
    const clients = Array.from({ length: 8 }, async (_, at) => {
      const agent = new Agent({ ...insecure, keepAlive: at % 2 === 0 });
      while (!isOver) outcomes.push(await ask(port, agent));
      agent.destroy();
    });
    await waitFor(() => expect(outcomes.length).toBeGreaterThan(50));
    one.child.kill('SIGTERM');
    expect((await one.ended).exit).toBe(0);
    await startOne(ports[0], data);
    const before = outcomes.length;
    await waitFor(() => expect(outcomes.length).toBeGreaterThan(before + 50));
    isOver = true;
    await Promise.all(clients);
    expect(outcomes.filter((outcome) => outcome !== 200)).toEqual([]);
  },
);
