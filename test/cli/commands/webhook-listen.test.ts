import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EngineFailure } from '../../../src/service/operation/engine.js';
import type { RunningService } from '../../../src/service/serve.js';
import { homeForTest, regen, type Started, startRegen } from '../../support/cli.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { startTask, waitForTask } from '../../support/generation.js';
import { generationDoubleForTest, png } from '../../support/generation-double.js';
import {
  isVerified,
  listDeliveries,
  listStatuses,
  readWebhookSecret,
  receiverForTest,
} from '../../support/receiver.js';
import { type Answered, ask, folderForTest, serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const engines = { image: createCopyingEngine() };
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

interface Listener {
  readonly url: string;
  readonly started: Started;
  /** What it printed so far, line by line. */
  events(): Answered[];
  /** Ends it as Ctrl-C does. */
  stop(): Promise<number>;
}

interface Asked {
  readonly service: Pick<RunningService, 'url'> & { readonly ownerToken?: string };
  readonly flags?: readonly string[];
  readonly env?: Record<string, string>;
  readonly home?: string;
}

/** A listener that is ready. */
async function startListener({
  service,
  flags = [],
  env = {},
  home = homeForTest(),
}: Asked): Promise<Listener> {
  const argv = ['webhook', 'listen', '--json', ...flags];
  const own = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken ?? 'secret' };
  const started = startRegen(argv, { home, env: { ...own, ...env } });
  let printed = '';
  started.child.stdout?.on('data', (chunk) => {
    printed += chunk;
  });
  onTestFinished(() => void started.child.kill('SIGKILL'));
  const url = await waitFor(() => {
    const [, found] = /Listening at (\S+) /.exec(started.said()) ?? [];
    if (!found) throw new Error(started.said());
    return found;
  });
  const events = () =>
    printed
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  const stop = async () => {
    started.child.kill('SIGINT');
    return (await started.ended).exit;
  };
  return { url, started, events, stop };
}

const listStates = (events: readonly Answered[]) => events.map(({ state }) => state);

interface Signed {
  readonly id?: string;
  readonly body?: string;
  readonly secret?: string;
  /** The header that is not signed. */
  readonly event?: string;
  /** How long ago. Seconds. */
  readonly age?: number;
}

/** Sends what a service would, signed by a library that is not ours. */
function sendWebhook(url: string, { id = 'msg_1', body, age = 0, ...given }: Signed = {}): Promise<Response> {
  const text = body ?? JSON.stringify({ task_id: 't-1', status: 'COMPLETED', generated: ['http://a/1'] });
  const at = new Date(Date.now() - age * 1000);
  return fetch(url, {
    method: 'POST',
    body: text,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(given.secret ?? secret).sign(id, at, text),
      'webhook-event': given.event ?? 'image.task.updated',
    },
  });
}

/** Waits until both webhooks of a task are delivered. */
function waitForDeliveries(service: Parameters<typeof listDeliveries>[0]): Promise<void> {
  return waitFor(async () => {
    expect((await listDeliveries(service)).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
  });
}

/** A service of which nothing but a signing secret is known. */
async function withSecret(flags: readonly string[] = [], home?: string): Promise<Listener> {
  const double = await generationDoubleForTest();
  const env = { REGEN_WEBHOOK_SECRET: secret };
  return startListener({ service: double, flags, env, ...(home !== undefined && { home }) });
}

describe('webhook listen', () => {
  it('prints one line for each webhook of a task, and exits 0 on Ctrl-C', async () => {
    const service = await serviceForTest({}, { engines });
    const { url, events, stop } = await startListener({ service });
    const id = await startTask({ url: service.url, token: service.ownerToken }, { webhook_url: url });
    await waitFor(() => expect(listStates(events())).toEqual(['IN_PROGRESS', 'COMPLETED']));
    expect(events()[1]).toEqual({
      id: expect.stringMatching(/^msg_/),
      event: 'image.task.updated',
      task_id: id,
      state: 'COMPLETED',
      caught_up: false,
      body: { task_id: id, status: 'COMPLETED', generated: [expect.stringContaining(id)] },
    });
    // A webhook is printed before it is answered.
    await waitForDeliveries(service);
    expect(await stop()).toBe(0);
  });

  it('refuses requests that are unsigned, changed, old, too large or not a POST, with the reason', async () => {
    const { url, events, started } = await withSecret();
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
    expect((await sendWebhook(url, { secret: `whsec_${Buffer.alloc(32).toString('base64')}` })).status).toBe(
      401,
    );
    expect((await sendWebhook(url, { age: 600 })).status).toBe(401);
    expect((await sendWebhook(url, { age: -600 })).status).toBe(401);
    expect((await fetch(url)).status).toBe(405);
    const large = await fetch(url, { method: 'POST', body: 'x'.repeat(9 * 1024 ** 2) }).catch(
      () => undefined,
    );
    expect(large?.status ?? 413).toBe(413);
    expect((await sendWebhook(url, { age: 240 })).status).toBe(204);
    await expect.poll(events).toHaveLength(1);
    await expect.poll(started.said).toContain('webhook-timestamp is 10 min old');
    expect(started.said()).toContain('webhook-id is missing');
    expect(started.said()).not.toContain(secret.slice(6));
  });

  it('handles each webhook once, however often it is delivered, also after a restart', async () => {
    const home = homeForTest();
    const first = await withSecret([], home);
    const together = await Promise.all([
      sendWebhook(first.url),
      sendWebhook(first.url),
      sendWebhook(first.url),
    ]);
    expect(together.map(({ status }) => status)).toEqual([204, 204, 204]);
    await expect.poll(first.events).toHaveLength(1);
    await first.stop();
    const second = await withSecret([], home);
    expect((await sendWebhook(second.url)).status).toBe(204);
    await expect.poll(second.started.said).toMatch(/Webhook \S+ was handled before\..*pass --again/);
    const body = JSON.stringify({ id: 'v', state: 'success', creations: [{ url: 'http://a/v.mp4' }] });
    expect((await sendWebhook(second.url, { id: 'msg_2', body })).status).toBe(204);
    const video = { id: 'msg_2', event: 'video.task.updated', task_id: 'v', state: 'success' };
    await expect.poll(second.events).toMatchObject([video]);
    await second.stop();
    const third = await withSecret(['--again'], home);
    expect((await sendWebhook(third.url)).status).toBe(204);
    await expect.poll(third.events).toHaveLength(1);
  });

  it('accepts a secret that is rotated while it listens', async () => {
    const service = await serviceForTest();
    const { url } = await startListener({ service });
    const { url: base, ownerToken: token } = service;
    const old = await readWebhookSecret(service);
    const rotated = await ask(`${base}/users/webhook-secret/rotate`, { method: 'POST', token });
    expect((await sendWebhook(url, { secret: rotated.body.secret })).status).toBe(204);
    expect((await sendWebhook(url, { id: 'msg_2', secret: old })).status).toBe(401);
  });

  it('forwards bytes and headers unchanged, and returns the answer so that failures are delivered again', async () => {
    const service = await serviceForTest({}, { engines });
    const target = await receiverForTest((call) => (call === 1 ? [503, { 'retry-after': '1' }] : 200));
    const { url, events } = await startListener({ service, flags: ['--forward-to', target.url] });
    await startTask({ url: service.url, token: service.ownerToken }, { webhook_url: url });
    const order = ['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED'];
    await waitFor(() => expect(listStatuses(target.received)).toEqual(order));
    const own = await readWebhookSecret(service);
    expect(target.received.map((received) => isVerified(received, own))).toEqual([true, true, true]);
    expect(target.received[0]?.headers).toMatchObject({
      'user-agent': 'regen',
      'webhook-event': 'image.task.updated',
    });
    // What came again is printed once.
    await expect.poll(() => listStates(events())).toEqual(['IN_PROGRESS', 'COMPLETED']);
    await waitForDeliveries(service);
    expect((await listDeliveries(service))[0]).toMatchObject({ attempts: 2 });
  });

  it('runs a command for each webhook with the body on standard input, and refuses the webhook if the command fails', async () => {
    const folder = folderForTest();
    const command = `cat >> '${folder}/bodies'; echo "$REGEN_WEBHOOK_ID $REGEN_WEBHOOK_STATE"; [ -f '${folder}/ok' ]`;
    const { url, events, started } = await withSecret(['--exec', command]);
    const body = JSON.stringify({ task_id: 't', status: '$(touch pwned); `id`', generated: [] });
    expect((await sendWebhook(url, { body })).status).toBe(500);
    writeFileSync(`${folder}/ok`, '');
    expect((await sendWebhook(url, { body })).status).toBe(204);
    expect(readFileSync(`${folder}/bodies`, 'utf8')).toBe(body + body);
    await expect.poll(events).toHaveLength(1);
    await expect.poll(started.said).toContain('msg_1 $(touch pwned); `id`');
    await expect.poll(started.said).toContain('The command failed with 1');
  });

  it('passes only signed data to a command', async () => {
    const folder = folderForTest();
    const { url } = await withSecret(['--exec', `env | grep ^REGEN_WEBHOOK_ >> '${folder}/env'`]);
    const event = 'video.task.updated';
    expect((await sendWebhook(url, { event, body: JSON.stringify({ any: 'thing' }) })).status).toBe(204);
    expect(readFileSync(`${folder}/env`, 'utf8')).not.toContain(event);
    const typed = JSON.stringify({ type: 'invoice.paid', data: {} });
    expect((await sendWebhook(url, { id: 'msg_2', event, body: typed })).status).toBe(204);
    expect(readFileSync(`${folder}/env`, 'utf8')).toContain('REGEN_WEBHOOK_EVENT=invoice.paid\n');
    const odd = JSON.stringify({ task_id: 'a\0b', status: 'COMPLETED\n', generated: [] });
    expect((await sendWebhook(url, { id: 'msg_3', event, body: odd })).status).toBe(204);
    expect(readFileSync(`${folder}/env`, 'utf8')).toContain('REGEN_WEBHOOK_EVENT=image.task.updated\n');
  });
});

it.each(['--forward-to', '--public-url'])('%s accepts only http and https addresses', async (flag) => {
  for (const address of ['ftp://127.0.0.1/', 'localhost:3000', 'nowhere', 'https://me:secret@example.com/']) {
    const { exit, stderr } = await regen(['webhook', 'listen', flag, address]);
    expect(exit).toBe(2);
    expect(stderr).toContain(`${flag} must `);
    expect(stderr).not.toContain(address);
  }
});

describe('webhook listen --until', () => {
  it('ends when a webhook reports the end of the task', async () => {
    let finish = () => {};
    const held = new Promise<void>((done) => {
      finish = done;
    });
    const service = await serviceForTest({}, { engines: { image: createCopyingEngine(() => held) } });
    const { url: base, ownerToken: token } = service;
    const port = await freePort();
    const id = await startTask({ url: base, token }, { webhook_url: `http://127.0.0.1:${port}/` });
    const { started, events } = await startListener({
      service,
      flags: ['--port', String(port), '--until', id],
    });
    finish();
    expect((await started.ended).exit).toBe(0);
    expect(listStates(events()).at(-1)).toBe('COMPLETED');
  });

  it('exits 6 when the status of the task says that it failed', async () => {
    const image = createCopyingEngine(() => {
      throw new EngineFailure('Nothing to see.');
    });
    const service = await serviceForTest({}, { engines: { image } });
    const id = await startTask({ url: service.url, token: service.ownerToken });
    const { started, events } = await startListener({ service, flags: ['--until', id] });
    const { exit, stderr } = await started.ended;
    expect(exit).toBe(6);
    expect(stderr).toContain('Nothing to see.');
    expect(events()).toMatchObject([{ task_id: id, state: 'FAILED', caught_up: true }]);
  });

  it('exits 8 at its timeout', async () => {
    const double = await generationDoubleForTest({ states: ['CREATED'], id: () => 'slow' });
    await startTask({ url: double.url, token: 'secret' });
    const env = { REGEN_WEBHOOK_SECRET: secret };
    const { started } = await startListener({
      service: double,
      env,
      flags: ['--until', 'slow', '--timeout', '300ms'],
    });
    expect((await started.ended).exit).toBe(8);
  });

  it('waits for the webhook where the service cannot tell the status', async () => {
    const double = await generationDoubleForTest({ extensions: false, id: () => 'styled' });
    const home = homeForTest();
    const env = { REGEN_BASE_URL: double.url, REGEN_TOKEN: 'secret', REGEN_WEBHOOK_SECRET: secret };
    const cwd = folderForTest();
    writeFileSync(`${cwd}/a.png`, png);
    const argv = ['image', 'style-transfer', 'a.png', 'a.png', '--webhook-url', 'http://127.0.0.1:1/'];
    const begun = await startRegen(argv, { home, cwd, env }).ended;
    expect(begun.exit).toBe(8);
    expect(begun.stderr).toContain('regen webhook listen');
    expect(begun.stderr).toContain('--until styled');
    const { started, url, events } = await startListener({
      service: double,
      home,
      env,
      flags: ['--until', 'styled'],
    });
    await waitFor(() => expect(started.said()).toContain('waiting for its webhook'));
    await sendWebhook(url, {
      body: JSON.stringify({ task_id: 'styled', status: 'COMPLETED', generated: ['http://a/1'] }),
    });
    expect((await started.ended).exit).toBe(0);
    expect(events()).toMatchObject([{ task_id: 'styled', caught_up: false }]);
  });
});

describe('webhook listen after a break', () => {
  it('delivers the current state of each task once, signed as the service does, and says what is older', async () => {
    const service = await serviceForTest({}, { engines });
    const { url: base, ownerToken: token } = service;
    const old = await readWebhookSecret(service);
    await ask(`${base}/users/webhook-secret/rotate`, { method: 'POST', token });
    // Its answer keeps the service from trying again before the listener has caught up.
    const unable = await receiverForTest(() => [503, { 'retry-after': '3600' }]);
    const id = await startTask({ url: base, token }, { webhook_url: `http://127.0.0.1:${unable.port}/` });
    await waitForTask({ url: base, token }, id);
    await waitFor(async () => expect((await listDeliveries(service))[0].attempts).toBe(1));
    await unable.close();
    const target = await receiverForTest();
    const flags = ['--port', String(unable.port), '--forward-to', target.url];
    const { events, started } = await startListener({ service, flags });
    await expect.poll(events).toMatchObject([{ task_id: id, state: 'COMPLETED', caught_up: true }]);
    const [older, newest] = await listDeliveries(service);
    const resend = async (delivery: string) => {
      await ask(`${base}/users/webhook-deliveries/${delivery}/resend`, { method: 'POST', token });
      await waitForDeliveries(service);
    };
    // The service tries both.
    await resend(newest.id);
    await expect.poll(started.said).toContain(`Webhook ${newest.id} was delivered as well`);
    expect(started.said()).toMatch(
      `Webhook ${older.id} is older than the state of task ${id} that was handled.`,
    );
    expect(started.said()).not.toContain('was handled before');
    await resend(newest.id);
    await expect.poll(started.said).toContain(`Webhook ${newest.id} was handled before.`);
    expect(events()).toHaveLength(1);
    expect(listStatuses(target.received)).toEqual(['COMPLETED']);
    const own = await readWebhookSecret(service);
    for (const one of [old, own])
      expect(target.received.map((received) => isVerified(received, one))).toEqual([true]);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
