import { expect, it } from 'vitest';
import { createSmallestBody, startPaths, unwrapTask } from '../../../support/generation.js';
import { createKillSwitch, killableServiceForTest } from '../../../support/killable-service.js';
import { startMagnific } from '../../../support/magnific.js';
import {
  createFal,
  createOpenAi,
  createReplicate,
  startOtherVendor,
} from '../../../support/other-vendors.js';
import { ask, folderForTest } from '../../../support/service.js';
import { steppingProxyForTest } from '../../../support/stepping-proxy.js';
import { createVendorSettings, writeProfile } from '../../../support/vendor-service.js';
import { videoPaths } from '../../../support/videos.js';
import { startVidu } from '../../../support/vidu.js';
import { waitFor } from '../../../support/wait-for.js';

interface Case {
  readonly profile: string;
  /** The start of a task: its path and its body. */
  readonly request: readonly [path: string, json: object];
  start(): Promise<{ readonly url: string; readonly key: string }>;
  /** Whether it lists its tasks with a marker, so that a lost start is found again. */
  readonly findsLost?: boolean;
  /** Whether the answer to a start has the results, so that there is nothing to look at. */
  readonly isAnswer?: boolean;
}

const relight = [startPaths['image.relight'], createSmallestBody('image.relight')] as const;
const upscale = [
  startPaths['image.upscaler'],
  { ...createSmallestBody('image.upscaler'), scale_factor: 2 },
] as const;
const film = [videoPaths['video.text2video'], { prompt: 'A boat' }] as const;

const cases: readonly Case[] = [
  { profile: 'magnific', request: relight, start: startMagnific },
  { profile: 'freepik', request: relight, start: () => startMagnific({ header: 'x-freepik-api-key' }) },
  { profile: 'comfy-magnific', request: relight, start: () => startMagnific({ header: 'x-api-key' }) },
  { profile: 'vidu', request: film, start: startVidu, findsLost: true },
  { profile: 'comfy-vidu', request: film, start: () => startVidu({ header: ['x-api-key', ''] }) },
  { profile: 'fal', request: upscale, start: () => startOtherVendor(createFal()) },
  { profile: 'replicate', request: upscale, start: () => startOtherVendor(createReplicate()) },
  { profile: 'openai', request: relight, start: () => startOtherVendor(createOpenAi()), isAnswer: true },
];

const moments = [
  ['is asked for it', 'POST', 'asked'],
  ['has started it', 'POST', 'answered'],
  ['is looked at', 'GET', 'answered'],
] as const;

const rows = cases.flatMap((given) =>
  moments
    // A list that may be late is waited for, which the tests with a clock of their own do.
    .filter(([, method, at]) => (method === 'GET' ? !given.isAnswer : at !== 'asked' || !given.findsLost))
    .map((moment) => ({ ...given, moment, when: moment[0] })),
);

it.each(rows)(
  'a task of a service that is killed while $profile $when is started once, and charged only if it is made',
  async ({ profile, request: [path, json], start, findsLost, moment: [, method, at] }) => {
    const vendor = await start();
    const { pathname } = new URL(vendor.url);
    const base = profile === 'replicate' || profile === 'openai' ? '/v1' : pathname.replace(/\/$/, '');
    const starts = { asked: 0, half: 0, answered: 0 };
    const { press, aim } = createKillSwitch();
    const proxy = await steppingProxyForTest(
      () => vendor.url,
      async (step) => {
        if (step.method === 'POST') starts[step.at] += 1;
        if (step.method === method && step.at === at) await press();
      },
    );
    const patient = writeProfile({ extends: profile, limits: {} });
    const kind = path.includes('image') ? 'image' : 'video';
    const settings = createVendorSettings(patient, { url: proxy + base, key: vendor.key });
    const configuration = {
      ...{ generation: { [kind]: settings }, data: folderForTest() },
      prices: { image: { relight: 30, upscaler: 30 } },
    };
    const first = await killableServiceForTest(configuration);
    const dead = aim(first.kill);
    const { status, body } = await ask(first.url + path, { method: 'POST', token: first.token, json });
    expect([status, body.message]).toEqual([200, undefined]);
    await dead;

    const second = await killableServiceForTest(configuration);
    const { task_id: id } = unwrapTask(body);
    const ended = await waitFor(async () => {
      const { body } = await ask(`${second.url}/users/tasks/${id}`, { token: second.token });
      expect(body.status).toMatch(/^(COMPLETED|FAILED|success|failed)$/);
      return body;
    });
    const isMade = method === 'GET' || findsLost === true;
    expect([ended.credits, ended.refunded]).toEqual(isMade ? [30, 0] : [0, 30]);
    expect(/COMPLETED|success/.test(ended.status)).toBe(isMade);
    expect(starts).toMatchObject({ asked: 1, answered: at === 'asked' ? 0 : 1 });
  },
);
