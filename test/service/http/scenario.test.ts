import { describe, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/service/configuration/configuration.js';
import { InvalidConfiguration } from '../../../src/service/configuration/start-errors.js';
import type { RunningService } from '../../../src/service/serve.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createFilmingEngine } from '../../support/filming-engine.js';
import {
  createSmallestBody,
  readTask,
  startPaths,
  startTask,
  waitForTask,
} from '../../support/generation.js';
import { ask, serviceForTest } from '../../support/service.js';
import { startVideo, waitForVideo } from '../../support/videos.js';

function playScenario(
  rules: readonly object[],
  seed = 1,
  input: ConfigurationInput = {},
): Promise<RunningService> {
  const engines = { image: createCopyingEngine(), video: createFilmingEngine() };
  return serviceForTest(input, { engines, scenario: { document: { rules }, seed } });
}

const toAsking = ({ url, ownerToken: token }: RunningService) => ({ url, token });

/** The statuses of this many requests, one after the other. */
async function collectStatuses(service: RunningService, path: string, count: number): Promise<number[]> {
  const statuses: number[] = [];
  while (statuses.length < count)
    statuses.push((await ask(service.url + path, { token: service.ownerToken })).status);
  return statuses;
}

const startRelight = (service: RunningService, headers: Record<string, string> = {}) =>
  ask(service.url + startPaths['image.relight'], {
    method: 'POST',
    token: service.ownerToken,
    json: createSmallestBody('image.relight'),
    headers,
  });

const countTasks = async ({ context }: RunningService) =>
  (await context.database.selectFrom('tasks').select('id').execute()).length;

describe('a scenario', () => {
  it('refuses the nth call of an operation, with the status and Retry-After of its code', async () => {
    const rule = { operations: 'user.me', nth: 2, refuse: 'rate_limited', retryAfterSeconds: 7 };
    const service = await playScenario([rule]);
    const { url, ownerToken: token } = service;
    const answers = [];
    for (let call = 0; call < 3; call++) answers.push(await ask(`${url}/users/me`, { token }));
    expect(answers.map(({ status }) => status)).toEqual([200, 429, 200]);
    expect(answers[1]?.body.error).toBe('rate_limited');
    expect(answers[1]?.headers.get('retry-after')).toBe('7');
    expect(await collectStatuses(service, '/users/publishers', 2)).toEqual([200, 200]);
  });

  it('applies a rule without an operation to all, but to nothing that is not an operation', async () => {
    const service = await playScenario([{ refuse: 'unavailable', times: 4 }]);
    // What anyone may read is refused, too, although the service keeps answers to it.
    expect(await collectStatuses(service, '/nodes', 3)).toEqual([503, 503, 503]);
    expect(await collectStatuses(service, '/health', 1)).toEqual([200]);
    expect(await collectStatuses(service, '/users/me', 2)).toEqual([503, 200]);
  });

  it('counts a call that is answered from what the service keeps', async () => {
    const service = await playScenario([{ operations: 'node.search', nth: 3, refuse: 'unavailable' }]);
    const statuses = [];
    for (let call = 0; call < 4; call++) statuses.push((await ask(`${service.url}/nodes`)).status);
    expect(statuses).toEqual([200, 200, 503, 200]);
  });

  it('has the same course with the same seed, regardless of other calls, and another with another seed', async () => {
    const rules = [{ operations: ['user.me', 'publisher.list'], chance: 0.5, refuse: 'internal' }];
    const course = async (seed: number, between: number) => {
      const service = await playScenario(rules, seed);
      const statuses: number[] = [];
      for (let call = 0; call < 24; call++) {
        statuses.push(...(await collectStatuses(service, '/users/me', 1)));
        await collectStatuses(service, '/users/publishers', between);
      }
      return statuses.join(' ');
    };
    const first = await course(5, 0);
    expect(new Set(first.split(' '))).toEqual(new Set(['200', '500']));
    expect(await course(5, 1)).toBe(first);
    expect(await course(6, 0)).not.toBe(first);
  });

  it('drops the connection before the work, or after it, when a repeated key finds the answer', async () => {
    const operations = ['image.relight'];
    const service = await playScenario([
      { operations, nth: 1, drop: 'before' },
      { operations, nth: 2, drop: 'after' },
    ]);
    const key = { 'idempotency-key': 'once' };
    await expect(startRelight(service, key)).rejects.toThrow('fetch failed');
    expect(await countTasks(service)).toBe(0);
    await expect(startRelight(service, key)).rejects.toThrow('fetch failed');
    expect(await countTasks(service)).toBe(1);
    const { status, headers } = await startRelight(service, key);
    expect([status, headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(await countTasks(service)).toBe(1);
  });

  it('delays a call while others are answered', async () => {
    const service = await playScenario([{ operations: 'user.me', nth: 1, delayMs: 3_600_000 }]);
    const abort = new AbortController();
    let isAnswered = false;
    const url = `${service.url}/users/me`;
    const headers = { authorization: `Bearer ${service.ownerToken}` };
    const delayed = fetch(url, { headers, signal: abort.signal }).finally(() => {
      isAnswered = true;
    });
    // The rule counts in the order of arrival, which a second connection might change.
    const ended = expect(delayed).rejects.toThrow('aborted');
    const others = await collectStatuses(service, '/users/publishers', 2);
    expect([others, isAnswered]).toEqual([[200, 200], false]);
    abort.abort();
    await ended;
  });

  it('fails tasks with a code and a reason, and refunds them', async () => {
    const fail = { code: 'content_policy', reason: 'The prompt was refused.' };
    const service = await playScenario([
      { operations: ['image.relight', 'video.text2video'], times: 2, fail },
    ]);
    const failed = await startTask(toAsking(service));
    await waitForTask(toAsking(service), failed, 'FAILED');
    const account = await ask(`${service.url}/users/tasks/${failed}`, { token: service.ownerToken });
    expect(account.body).toMatchObject({ reason: 'The prompt was refused.', credits: 0 });
    const { task_id } = await startVideo(toAsking(service));
    expect((await waitForVideo(toAsking(service), task_id, 'failed')).err_code).toBe('content_policy');
    await waitForTask(toAsking(service), await startTask(toAsking(service)));
  });

  it('delays tasks, which end with the service', async () => {
    const service = await playScenario([{ operations: 'image.relight', nth: 1, taskDelayMs: 3_600_000 }]);
    const slow = await startTask(toAsking(service));
    await waitForTask(toAsking(service), slow, 'IN_PROGRESS');
    await waitForTask(toAsking(service), await startTask(toAsking(service)));
    expect((await readTask(toAsking(service), slow)).status).toBe('IN_PROGRESS');
  });

  it('answers with result URLs that are expired', async () => {
    const service = await playScenario([{ operations: 'task.get', times: 1, delayMs: 1 }]);
    const id = await startTask(toAsking(service));
    const [url] = (await waitForTask(toAsking(service), id)).generated;
    expect((await fetch(url)).status).toBe(200);

    const expired = await playScenario([{ operations: 'image.relightStatus', expire: true }]);
    const other = await startTask(toAsking(expired));
    const [old] = (await waitForTask(toAsking(expired), other)).generated;
    const answer = await ask(old);
    expect([answer.status, answer.body.error]).toEqual([403, 'invalid_signature']);
  });

  it.each<[string, unknown, string[]]>([
    ['nothing', null, ['scenario must be an object']],
    ['no rule', { rules: [] }, ['scenario.rules must not be empty']],
    [
      'many mistakes',
      {
        rules: [
          { operations: ['image.relite'], refuse: 'internal' },
          { nth: 0, chance: 2, delayMs: 'long' },
          { refuse: 'teapot' },
          { nth: 1, chance: 0.5, refuse: 'internal', drop: 'after', retryAfterSeconds: 1 },
          { operations: 'user.me', fail: {} },
          { delayMs: 1, fail: {} },
          { operations: 'user.me' },
          { refuse: 'internal', often: true },
        ],
      },
      [
        'scenario.rules.0.operations.0 must be the name of an operation, such as image.relight',
        'scenario.rules.1.nth must be',
        'scenario.rules.1.chance must be',
        'scenario.rules.1.delayMs must be',
        'scenario.rules.2.refuse must be',
        'scenario.rules.3 must have nth or chance, not both',
        'scenario.rules.3 must have one of refuse, drop and expire',
        'scenario.rules.3 must refuse with rate_limited or unavailable',
        'scenario.rules.4 must name an operation that starts a task',
        'scenario.rules.5 must have delayMs, refuse, drop or expire for requests, or taskDelayMs or fail',
        'scenario.rules.6 must have delayMs, refuse, drop or expire for requests, or taskDelayMs or fail',
        'scenario.rules.7.often is not a known field',
      ],
    ],
  ])('with %s is refused with all its problems', async (_, document, sentences) => {
    const started = serviceForTest({}, { scenario: { document, seed: 1 } });
    const error = await started.then(
      () => undefined,
      (refusal: unknown) => refusal,
    );
    expect(error).toBeInstanceOf(InvalidConfiguration);
    for (const sentence of sentences) expect((error as Error).message).toContain(sentence);
  });

  it.each<[string, ConfigurationInput]>([
    ['listens on all addresses', { host: '0.0.0.0' }],
    ['is behind a proxy', { trustedProxies: 1 }],
    ['has a public URL', { publicUrl: 'https://registry.example.com' }],
  ])('is refused by a service that %s', async (_, input) => {
    const rules = [{ refuse: 'internal' }];
    await expect(playScenario(rules, 1, input)).rejects.toThrow('scenario is only for a service on loopback');
  });
});
