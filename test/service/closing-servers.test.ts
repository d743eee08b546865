import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, onTestFinished, test } from 'vitest';
import { regen, startRegen } from '../support/cli.js';
import { createCopyingEngine } from '../support/copying-engine.js';
import { startPaths, startTask, waitForTask } from '../support/generation.js';
import { listenOn } from '../support/listen.js';
import { packForTest } from '../support/packs.js';
import { ask, folderForTest, publisherForTest, serviceForTest } from '../support/service.js';
import { serviceProcessForTest } from '../support/service-in-process.js';
import { createVendorConfiguration } from '../support/vendor-service.js';
import { videoPaths } from '../support/videos.js';
import { waitFor } from '../support/wait-for.js';

// A server that closes the connection with the last byte meets a parser that waits for the disk: in the built
// program, where an exception in an event of a socket ends the process.

const MIB = 1024 ** 2;

/** Passes requests on, and ends each connection with its answer. */
async function closingRelay(target: () => string): Promise<string> {
  const { url, close } = await listenOn(async (asked, answer) => {
    const { method = 'GET', url: path, headers } = asked;
    const parts: Buffer[] = [];
    for await (const part of asked) parts.push(part);
    const { host, connection, 'transfer-encoding': _, ...passed } = headers;
    const given = await fetch(target() + path, {
      method,
      headers: passed as Record<string, string>,
      ...(parts.length > 0 && { body: Buffer.concat(parts) }),
      redirect: 'manual',
    });
    const body = Buffer.from(await given.arrayBuffer());
    const type = given.headers.get('content-type') ?? 'application/octet-stream';
    answer.writeHead(given.status, {
      'content-type': type,
      'content-length': body.length,
      connection: 'close',
    });
    answer.end(body);
  });
  onTestFinished(close);
  return url;
}

/** Answers every request with this, and ends the connection. */
async function closingServer(type: string, body: Buffer, note = () => {}): Promise<string> {
  const { url, close } = await listenOn((_, answer) => {
    note();
    const headers = { 'content-type': type, 'content-length': body.length, connection: 'close' };
    answer.writeHead(200, headers).end(body);
  });
  onTestFinished(close);
  return url;
}

/** A PNG of several megabytes. */
function largeImage(side = 1200): Promise<Buffer> {
  return sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } })
    .png()
    .toBuffer();
}

const videoHeader = Buffer.from('0000000c667479706d703432', 'hex');

test('inputs from a server that closes at once are accepted', async () => {
  // Of a vendor that does not answer, so that nothing is drawn.
  const { url, token } = await serviceProcessForTest(
    createVendorConfiguration({ url: 'http://127.0.0.1:1', key: 'k' }),
  );
  const post = { method: 'POST', token };
  const origin = await closingServer('image/png', await largeImage());
  const image = { ...post, json: { image: `${origin}/a.png` } };
  expect((await ask(url + startPaths['image.relight'], image)).status).toBe(200);
  const videos = await closingServer('video/mp4', Buffer.concat([videoHeader, Buffer.alloc(12 * MIB)]));
  for (let at = 0; at < 20; at++) {
    const json = { video_creation_id: 'unknown', video_url: `${videos}/${at}.mp4` };
    expect((await ask(url + videoPaths['video.extend'], { ...post, json })).status).toBe(200);
  }
});

test('results of a vendor that closes at once are stored', async () => {
  const relay = await closingRelay(() => vendor.localUrl);
  const vendor = await serviceForTest({ publicUrl: relay }, { engines: { image: createCopyingEngine() } });
  const service = await serviceProcessForTest(
    createVendorConfiguration({ url: relay, key: vendor.ownerToken }),
  );
  const image = (await largeImage()).toString('base64');
  const ids: string[] = [];
  while (ids.length < 4) ids.push(await startTask(service, { image }));
  for (const id of ids) await waitForTask(service, id);
});

test('archives of a registry that closes at once are passed on, and saved by the command line', async () => {
  const relay = await closingRelay(() => far.localUrl);
  const far = await serviceForTest({ publicUrl: relay });
  const { personalAccessToken } = await publisherForTest({ url: far.localUrl, ownerToken: far.ownerToken });
  const content = randomBytes(6 * MIB);
  const pack = packForTest({ files: { 'weights.bin': content } });
  const env = { REGEN_BASE_URL: far.localUrl, REGEN_PUBLISH_TOKEN: personalAccessToken };
  const { exit, stderr } = await regen(['version', 'publish', pack], { env });
  expect(exit, stderr).toBe(0);
  const near = await serviceProcessForTest({ uplink: { url: relay } });
  for (const REGEN_BASE_URL of [near.url, relay, relay, relay]) {
    const cwd = folderForTest();
    const saved = await startRegen(['version', 'download', 'pack'], { env: { REGEN_BASE_URL }, cwd }).ended;
    expect(saved.exit, saved.stderr).toBe(0);
    expect(statSync(join(cwd, 'pack-1.0.0.zip')).size).toBeGreaterThan(content.length);
  }
});

test('webhooks to a receiver that answers with a large body and closes at once are delivered', async () => {
  const service = await serviceProcessForTest({});
  let deliveries = 0;
  const receiver = await closingServer('text/plain', Buffer.alloc(4 * MIB), () => {
    deliveries += 1;
  });
  const image = (await largeImage(64)).toString('base64');
  for (let at = 0; at < 4; at++) {
    const id = await startTask(service, { image, webhook_url: `${receiver}/${at}` });
    await waitForTask(service, id);
  }
  await waitFor(() => expect(deliveries).toBeGreaterThanOrEqual(4));
  expect((await ask(`${service.url}/health`)).status).toBe(200);
});

test('an issuer whose server sends megabytes and closes at once does not end the service', async () => {
  const discovery = await closingServer('application/json', Buffer.alloc(4 * MIB, ' '));
  const { url } = await serviceProcessForTest({ issuers: [{ issuer: discovery, audience: 'regen' }] });
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { iss: discovery, sub: 'ann', aud: 'regen', exp: 4_102_444_800 };
  const token = [part({ alg: 'RS256', kid: 'one' }), part(claims), 'AAAA'].join('.');
  for (let at = 0; at < 8; at++)
    expect([401, 503]).toContain((await ask(`${url}/users/me`, { token })).status);
  expect((await ask(`${url}/health`)).status).toBe(200);
});
