import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { getWebhookEvent, webhookEvents, webhookStates } from '../../../src/contract/events.js';
import { EngineFailure } from '../../../src/service/operation/engine.js';
import { homeForTest, regen, start } from '../../support/cli.js';
import { copyingEngine } from '../../support/copying-engine.js';
import { filmingEngine } from '../../support/filming-engine.js';
import { startedTask } from '../../support/generation.js';
import { isVerified, receiverForTest, type Told, webhookSecret } from '../../support/receiver.js';
import { type Answered, serviceForTest } from '../../support/service.js';
import { startedVideo } from '../../support/videos.js';
import { waitFor } from '../../support/wait-for.js';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const env = { REGEN_BASE_URL: 'http://127.0.0.1:1', REGEN_WEBHOOK_SECRET: secret };

function trigger(to: string, ...flags: string[]): ReturnType<typeof regen> {
  return regen(['webhook', 'trigger', '--to', to, '--json', ...flags], { env });
}

/** The same with `example` for each text that differs from task to task. */
function generalize(body: Answered): Answered {
  const text = JSON.stringify(body, (key, value) => (key === 'credits' && value > 0 ? 'some' : value));
  return text
    .replace(/https?:[^"]*?\/results\/[^/]+\/([^"?]+)[^"]*/g, 'URL of $1')
    .replace(/[0-9a-f-]{36}/g, 'ID');
}

describe('webhook trigger', () => {
  it('sends the bodies and headers that the service sends, in each of its states', async () => {
    const { url, told } = await receiverForTest();
    for (const state of Object.values(webhookStates).flat()) {
      expect((await trigger(url, '--state', state)).exit).toBe(0);
    }
    const triggered = told.splice(0);
    let fails = false;
    const before = () => {
      if (fails) throw new EngineFailure('No.');
    };
    const engines = { image: copyingEngine(before), video: filmingEngine(before) };
    const service = await serviceForTest({}, { engines });
    const asking = { url: service.url, token: service.ownerToken };
    for (fails of [false, true]) {
      const before = told.length;
      await startedTask(asking, { webhook_url: url });
      await waitFor(() => expect(told).toHaveLength(before + 2));
      await startedVideo(asking, { callback_url: url });
      await waitFor(() => expect(told).toHaveLength(before + 4));
    }
    const sent = new Set(told.map(({ body }) => generalize(body)));
    expect(new Set(triggered.map(({ body }) => generalize(body)))).toEqual(sent);
    const names = ({ headers }: Told) => Object.keys(headers).sort();
    for (const one of triggered) {
      expect(names(one)).toEqual(names(told[0] as Told));
      expect(one.headers['user-agent']).toBe(told[0]?.headers['user-agent']);
      const kind = 'task_id' in one.body ? 'image' : 'video';
      expect(one.headers['webhook-event']).toBe(getWebhookEvent(kind));
      expect(webhookEvents[getWebhookEvent(kind)].safeParse(one.body).success).toBe(true);
    }
  });

  it('signs with the secret that webhook verify finds, and prints how it was answered', async () => {
    const { url, told } = await receiverForTest(() => 202);
    const service = await serviceForTest();
    const own = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
    const { exit, stdout } = await regen(['webhook', 'trigger', '--to', url, '--json'], { env: own });
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      id: expect.stringMatching(/^msg_/),
      event: 'image.task.updated',
      task_id: told[0]?.body.task_id,
      state: 'COMPLETED',
      status: 202,
      ms: expect.any(Number),
    });
    const received = told[0] as Told;
    expect(isVerified(received, await webhookSecret(service))).toBe(true);
    const lines = Object.entries(received.headers).map(([name, value]) => `${name}: ${value}`);
    const request = `${lines.join('\n')}\n\n${received.text}`;
    const verified = await regen(['webhook', 'verify', '-'], { env: own, stdin: request });
    expect(verified.exit).toBe(0);
  });

  it('is received by webhook listen', async () => {
    const listener = start(['webhook', 'listen', '--json'], { home: homeForTest(), env });
    onTestFinished(() => void listener.child.kill('SIGKILL'));
    const [, url] = await waitFor(() => {
      const found = /Listening at (\S+) /.exec(listener.said());
      expect(found).not.toBeNull();
      return found as RegExpExecArray;
    });
    const { exit, stdout } = await trigger(url as string, '--event', 'video.task.updated');
    expect(exit).toBe(0);
    listener.child.kill('SIGINT');
    const event = JSON.parse((await listener.ended).stdout);
    const { id, task_id } = JSON.parse(stdout);
    expect(event).toMatchObject({ id, task_id, event: 'video.task.updated', state: 'success' });
  });

  it.each([[500], [401], [410], [302]])(
    'exits 6 when it is answered %i, and follows no redirect',
    async (status) => {
      const { url, told } = await receiverForTest(() => [status, { location: '/elsewhere' }]);
      const { exit, stdout, stderr } = await trigger(url);
      expect(exit).toBe(6);
      expect(JSON.parse(stdout).status).toBe(status);
      expect(JSON.parse(stderr).error).toMatchObject({ code: 'webhook_not_accepted' });
      expect(told).toHaveLength(1);
    },
  );

  it('exits 6 when the receiver cannot be reached, or closes the connection', async () => {
    expect((await trigger('http://127.0.0.1:1/')).stderr).toContain('Could not reach http://127.0.0.1:1');
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void server.close());
    const { exit, stdout } = await trigger(
      `http://127.0.0.1:${(server.address() as { port: number }).port}/`,
    );
    expect([exit, stdout]).toEqual([6, '']);
  });

  it('says all that is wrong with its flags, and sends nothing', async () => {
    const { url, told } = await receiverForTest();
    const wrong = await regen(['webhook', 'trigger', '--event', 'video.task.updated', '--state', 'FAILED'], {
      env,
    });
    expect(wrong.exit).toBe(2);
    expect(wrong.stderr).toContain('--to <url> is required.');
    expect(wrong.stderr).toContain('must be one of processing, success, failed');
    expect((await trigger(url, '--state', 'gone')).exit).toBe(2);
    expect((await trigger(url, '--event', 'task.updated')).exit).toBe(2);
    expect((await trigger('ftp://127.0.0.1/')).exit).toBe(2);
    expect(told).toEqual([]);
  });
});
