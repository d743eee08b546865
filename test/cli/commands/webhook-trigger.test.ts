import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { getWebhookEvent, webhookEvents, webhookStates } from '../../../src/contract/events.js';
import { EngineFailure } from '../../../src/service/operation/engine.js';
import { homeForTest, regen, startRegen } from '../../support/cli.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createFilmingEngine } from '../../support/filming-engine.js';
import { startTask } from '../../support/generation.js';
import {
  isVerified,
  type ReceivedWebhook,
  readWebhookSecret,
  receiverForTest,
} from '../../support/receiver.js';
import { type Answered, folderForTest, serviceForTest } from '../../support/service.js';
import { startVideo } from '../../support/videos.js';
import { waitFor } from '../../support/wait-for.js';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const env = { REGEN_BASE_URL: 'http://127.0.0.1:1', REGEN_WEBHOOK_SECRET: secret };

function triggerWebhook(to: string, ...flags: string[]): ReturnType<typeof regen> {
  return regen(['webhook', 'trigger', '--to', to, '--json', ...flags], { env });
}

/** The same with `example` for each text that differs from task to task. */
function generalizeBody(body: Answered): Answered {
  const text = JSON.stringify(body, (key, value) => (key === 'credits' && value > 0 ? 'some' : value));
  return text
    .replace(/https?:[^"]*?\/results\/[^/]+\/([^"?]+)[^"]*/g, 'URL of $1')
    .replace(/[0-9a-f-]{36}/g, 'ID');
}

describe('webhook trigger', () => {
  it.each([
    [['--state', 'completed'], 'image.task.updated', 'COMPLETED'],
    [['--state', 'Success'], 'video.task.updated', 'success'],
    [['--state', 'done'], 'image.task.updated', 'COMPLETED'],
    [['--state', 'running', '--event', 'video.task.updated'], 'video.task.updated', 'processing'],
    [['--state', 'FAILED', '--event', 'video.task.updated'], 'video.task.updated', 'failed'],
    [['--state', 'completed', '--event', 'video.task.updated'], 'video.task.updated', 'success'],
    [['--event', 'video.task.updated'], 'video.task.updated', 'success'],
  ])('understands the state of %j', async (flags, event, state) => {
    const { url } = await receiverForTest();
    const { stdout, stderr } = await triggerWebhook(url, ...flags);
    expect(JSON.parse(stdout), stderr).toMatchObject({ event, state });
  });

  it('sends the bodies and headers that the service sends, in each of its states', async () => {
    const { url, received } = await receiverForTest();
    for (const state of Object.values(webhookStates).flat()) {
      expect((await triggerWebhook(url, '--state', state)).exit).toBe(0);
    }
    const triggered = received.splice(0);
    let fails = false;
    const before = () => {
      if (fails) throw new EngineFailure('No.');
    };
    const engines = { image: createCopyingEngine(before), video: createFilmingEngine(before) };
    const service = await serviceForTest({}, { engines });
    const asking = { url: service.url, token: service.ownerToken };
    for (fails of [false, true]) {
      const before = received.length;
      await startTask(asking, { webhook_url: url });
      await waitFor(() => expect(received).toHaveLength(before + 2));
      await startVideo(asking, { callback_url: url });
      await waitFor(() => expect(received).toHaveLength(before + 4));
    }
    const sent = new Set(received.map(({ body }) => generalizeBody(body)));
    expect(new Set(triggered.map(({ body }) => generalizeBody(body)))).toEqual(sent);
    const names = ({ headers }: ReceivedWebhook) => Object.keys(headers).sort();
    for (const one of triggered) {
      expect(names(one)).toEqual(names(received[0] as ReceivedWebhook));
      expect(one.headers['user-agent']).toBe(received[0]?.headers['user-agent']);
      const kind = 'task_id' in one.body ? 'image' : 'video';
      expect(one.headers['webhook-event']).toBe(getWebhookEvent(kind));
      expect(webhookEvents[getWebhookEvent(kind)].safeParse(one.body).success).toBe(true);
    }
  });

  it('signs with the secret that webhook verify finds, and prints how it was answered', async () => {
    const { url, received } = await receiverForTest(() => 202);
    const service = await serviceForTest();
    const own = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
    const { exit, stdout } = await regen(['webhook', 'trigger', '--to', url, '--json'], { env: own });
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      id: expect.stringMatching(/^msg_/),
      event: 'image.task.updated',
      task_id: received[0]?.body.task_id,
      state: 'COMPLETED',
      status: 202,
      ms: expect.any(Number),
    });
    const webhook = received[0] as ReceivedWebhook;
    expect(isVerified(webhook, await readWebhookSecret(service))).toBe(true);
    const lines = Object.entries(webhook.headers).map(([name, value]) => `${name}: ${value}`);
    const request = `${lines.join('\n')}\n\n${webhook.text}`;
    const verified = await regen(['webhook', 'verify', '-'], { env: own, stdin: request });
    expect(verified.exit).toBe(0);
  });

  it('signs with a rotated secret too while the service does', async () => {
    const { url, received } = await receiverForTest();
    const service = await serviceForTest();
    const own = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
    const old = await readWebhookSecret(service);
    expect((await regen(['webhook', 'secret', '--rotate', '--yes'], { env: own })).exit).toBe(0);
    expect((await regen(['webhook', 'trigger', '--to', url], { env: own })).exit).toBe(0);
    const both = [old, await readWebhookSecret(service)];
    expect(both.map((one) => isVerified(received[0] as ReceivedWebhook, one))).toEqual([true, true]);
  });

  it('is received by webhook listen', async () => {
    const listener = startRegen(['webhook', 'listen', '--json'], { home: homeForTest(), env });
    onTestFinished(() => void listener.child.kill('SIGKILL'));
    const [, url] = await waitFor(() => {
      const found = /Listening at (\S+) /.exec(listener.said());
      expect(found).not.toBeNull();
      return found as RegExpExecArray;
    });
    const { exit, stdout } = await triggerWebhook(url as string, '--event', 'video.task.updated');
    expect(exit).toBe(0);
    listener.child.kill('SIGINT');
    const event = JSON.parse((await listener.ended).stdout);
    const { id, task_id } = JSON.parse(stdout);
    expect(event).toMatchObject({ id, task_id, event: 'video.task.updated', state: 'success' });
  });

  it.each([[500], [401], [410], [302]])(
    'exits 6 when it is answered %i, and follows no redirect',
    async (status) => {
      const { url, received } = await receiverForTest(() => [status, { location: '/elsewhere' }]);
      const { exit, stdout, stderr } = await triggerWebhook(url);
      expect(exit).toBe(6);
      expect(JSON.parse(stdout).status).toBe(status);
      expect(JSON.parse(stderr).error).toMatchObject({ code: 'webhook_not_accepted' });
      expect(received).toHaveLength(1);
    },
  );

  it('says how to sign with an old secret as well when a receiver refuses the newest one', async () => {
    const old = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    const { url, received } = await receiverForTest((call) => (call === 1 ? 401 : 500));
    const refused = await triggerWebhook(url);
    expect(refused.stderr).toContain('this command does so with a --secret-file that contains both');
    const file = join(folderForTest(), 'secrets.txt');
    writeFileSync(file, `${secret}\n${old}\n`);
    const both = await triggerWebhook(url, '--secret-file', file);
    expect(both.stderr).not.toContain('--secret-file');
    expect([secret, old].map((one) => isVerified(received[1] as ReceivedWebhook, one))).toEqual([true, true]);
  });

  it('exits 6 when the receiver cannot be reached, or closes the connection', async () => {
    expect((await triggerWebhook('http://127.0.0.1:1/')).stderr).toContain(
      'Could not reach http://127.0.0.1:1',
    );
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void server.close());
    const { exit, stdout } = await triggerWebhook(
      `http://127.0.0.1:${(server.address() as { port: number }).port}/`,
    );
    expect([exit, stdout]).toEqual([6, '']);
  });

  it('reports all problems of its flags and sends nothing', async () => {
    const { url, received } = await receiverForTest();
    const wrong = await regen(['webhook', 'trigger', '--event', 'video.task.updated', '--state', 'burnt'], {
      env,
    });
    expect(wrong.exit).toBe(2);
    expect(wrong.stderr).toContain('--to <url> is required.');
    expect(wrong.stderr).toContain('must be one of processing, success, failed');
    expect((await triggerWebhook(url, '--state', 'gone')).exit).toBe(2);
    expect((await triggerWebhook(url, '--event', 'task.updated')).exit).toBe(2);
    expect((await triggerWebhook('ftp://127.0.0.1/')).exit).toBe(2);
    expect(received).toEqual([]);
  });
});
