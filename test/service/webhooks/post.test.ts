import { describe, expect, it } from 'vitest';
import { createAddressCheck } from '../../../src/service/network/address-check.js';
import { type PostWebhookOptions, postWebhook } from '../../../src/service/webhooks/post.js';
import { type ReceiverAnswer, receiverForTest } from '../../support/receiver.js';

const asked: Omit<PostWebhookOptions, 'url'> = {
  headers: { 'webhook-id': 'msg_1' },
  body: '{}',
  serviceOrigin: 'http://127.0.0.1:7717',
  loopbackAllowed: true,
  signal: new AbortController().signal,
  now: Date.now,
};

describe('one attempt to call a webhook', () => {
  it.each<[ReceiverAnswer, object]>([
    [200, { kind: 'delivered' }],
    [299, { kind: 'delivered' }],
    [[307, { location: '/' }], { kind: 'failed', reason: 'it answered 307' }],
    [404, { kind: 'failed', reason: 'it answered 404' }],
    [410, { kind: 'gone', reason: 'it answered 410' }],
    [[429, { 'retry-after': '7' }], { kind: 'failed', reason: 'it answered 429', retryAfterMs: 7_000 }],
  ])('that is answered with %j has the expected outcome', async (answer, outcome) => {
    const { url, received } = await receiverForTest(() => answer);
    expect(await postWebhook({ ...asked, url })).toEqual(outcome);
    expect(received).toHaveLength(1);
  });

  it('fails if no answer comes in time', async () => {
    const { url } = await receiverForTest(() => 'silence');
    const reason = 'it did not answer within 0.2 s';
    expect(await postWebhook({ ...asked, url, timeoutMs: 200 })).toEqual({ kind: 'failed', reason });
  });

  it('fails if the connection is refused, and does not read an endless answer', async () => {
    expect(await postWebhook({ ...asked, url: 'http://127.0.0.1:1/' })).toEqual({
      kind: 'failed',
      reason: 'its host refused the connection',
    });
    const { url } = await receiverForTest(() => [200, { 'content-length': '1000000000000' }]);
    expect(await postWebhook({ ...asked, url })).toEqual({ kind: 'delivered' });
  });

  it('rejects without an outcome when the service stops', async () => {
    const abort = new AbortController();
    const { url } = await receiverForTest(() => {
      abort.abort(new Error('stopped'));
      return 'silence';
    });
    await expect(postWebhook({ ...asked, url, signal: abort.signal })).rejects.toThrow('stopped');
  });
});

describe('an address that is not public', () => {
  const refused = { kind: 'refused', reason: 'its address is not public' };
  const away = 'https://regen.example';
  const here = 'http://127.0.0.1:7717';

  it.each([
    ['http://127.0.0.1:1/', away],
    ['http://localhost:1/', away],
    ['http://[::1]:1/', away],
    ['http://10.0.0.1/', away],
    ['http://169.254.169.254/', here],
    ['http://[::ffff:10.0.0.1]/', here],
    ['http://[::ffff:7f00:1]/', away],
    ['http://0x0a000001/', here],
    ['http://0/', away],
  ])('%s is not called by a service at %s', async (url, serviceOrigin) => {
    expect(
      await postWebhook({ ...asked, url, serviceOrigin, loopbackAllowed: serviceOrigin === here }),
    ).toEqual(refused);
  });

  it.each([
    ['127.0.0.1', away],
    ['10.0.0.1', here],
    ['169.254.169.254', here],
    ['::ffff:10.0.0.1', here],
    ['fd00::1', here],
    ['64:ff9b::a00:1', here],
  ])('%s is not called if a name resolves to it, by a service at %s', async (address, serviceOrigin) => {
    const { port, received } = await receiverForTest();
    const family = address.includes(':') ? 6 : 4;
    const lookup: PostWebhookOptions['lookup'] = (_, __, done) => done(null, [{ address, family }]);
    const url = `http://hooks.example:${port}/`;
    expect(
      await postWebhook({ ...asked, url, serviceOrigin, loopbackAllowed: serviceOrigin === here, lookup }),
    ).toEqual(refused);
    expect(received).toEqual([]);
  });
});

describe('an address in an allowed network', () => {
  it('is called by its number and by its name, and its redirects are not followed', async () => {
    const { url, port, received } = await receiverForTest((call) =>
      call < 3 ? 204 : [307, { location: '/' }],
    );
    const lookup: PostWebhookOptions['lookup'] = (_, __, done) =>
      done(null, [
        { address: '10.0.0.1', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    const allowed = { ...asked, loopbackAllowed: false, allowedNetworks: ['127.0.0.1'], lookup };
    expect(await postWebhook({ ...allowed, url })).toEqual({ kind: 'delivered' });
    // Only the address that is allowed is tried.
    const named = `http://hooks.example:${port}/`;
    expect(await postWebhook({ ...allowed, url: named })).toEqual({ kind: 'delivered' });
    expect(await postWebhook({ ...allowed, url })).toMatchObject({ kind: 'failed' });
    expect(received).toHaveLength(3);
  });

  it.each<[address: string, networks: string[], isAllowed: boolean]>([
    ['10.1.2.3', ['10.0.0.0/8'], true],
    ['10.1.2.3', ['10.1.2.3'], true],
    ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
    ['10.1.2.3', ['192.168.0.0/16', '10.2.0.0/16'], false],
    ['fd12::1', ['fd00::/8'], true],
    ['fd12::1', ['10.0.0.0/8'], false],
    // Wide networks do not include this machine, its link and the metadata of a cloud.
    ['127.0.0.1', ['0.0.0.0/0', '127.0.0.0/8', '127.0.0.0/31'], false],
    ['127.0.0.1', ['127.0.0.1/32'], true],
    ['127.0.0.2', ['127.0.0.1'], false],
    ['0.0.0.0', ['0.0.0.0/0'], false],
    ['169.254.169.254', ['0.0.0.0/0', '169.254.0.0/16'], false],
    ['169.254.169.254', ['169.254.169.254'], true],
    ['::1', ['::/0'], false],
    ['::1', ['::1/128'], true],
    ['::ffff:127.0.0.1', ['::/0', '0.0.0.0/0'], false],
    ['::ffff:169.254.169.254', ['::/0'], false],
    ['64:ff9b::7f00:1', ['::/0'], false],
    ['fe80::1', ['fe80::/10'], false],
    ['fd00:ec2::254', ['fd00::/8'], false],
    ['hooks.example', ['0.0.0.0/0'], false],
    ['1.1.1.1', [], true],
  ])('%s with %j', (address, allowedNetworks, isAllowed) => {
    expect(createAddressCheck({ loopbackAllowed: false, allowedNetworks })(address)).toBe(isAllowed);
  });
});
