import { describe, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/service/configuration/configuration.js';
import type { RunningService, ServiceParts } from '../../../src/service/serve.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { startTask, waitForTask } from '../../support/generation.js';
import {
  isVerified,
  listDeliveries,
  listStatuses,
  type ReceivedWebhook,
  type ReceiverAnswer,
  readWebhookSecret,
  receiverForTest,
} from '../../support/receiver.js';
import { type Answered, ask, serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const hour = 3_600_000;

interface EndedTask {
  readonly service: RunningService;
  readonly received: ReceivedWebhook[];
  readonly taskId: string;
}

/** A task that ended, whose receiver answered its first webhooks so. */
async function endedTask(
  answer: Parameters<typeof receiverForTest>[0],
  parts: ServiceParts = {},
  input: ConfigurationInput = {},
): Promise<EndedTask> {
  const { url: webhook_url, received } = await receiverForTest(answer);
  const service = await serviceForTest(input, { engines: { image: createCopyingEngine() }, ...parts });
  const { url, ownerToken: token } = service;
  const taskId = await startTask({ url, token }, { webhook_url });
  await waitForTask({ url, token }, taskId);
  return { service, received, taskId };
}

/** The delivery log once its statuses are these, oldest first. */
function logAt(service: RunningService, ...statuses: string[]): Promise<Answered[]> {
  return waitFor(async () => {
    const log = await listDeliveries(service);
    expect(log.map(({ status }) => status)).toEqual(statuses);
    return log;
  });
}

function changeDelivery(
  { url, ownerToken }: Pick<RunningService, 'url' | 'ownerToken'>,
  id: string,
  verb: 'resend' | 'cancel',
): ReturnType<typeof ask> {
  return ask(`${url}/users/webhook-deliveries/${id}/${verb}`, { method: 'POST', token: ownerToken });
}

const waitLong: ReceiverAnswer = [503, { 'retry-after': '7200' }];

describe('resending a delivery', () => {
  it('sends one that was delivered again, with its id, a new signature and working links', async () => {
    const { service, received } = await endedTask(() => 204);
    const [, done] = await logAt(service, 'delivered', 'delivered');
    const { status, body } = await changeDelivery(service, done.id, 'resend');
    expect([status, body.id, body.status]).toEqual([200, done.id, 'pending']);
    await waitFor(() => expect(listStatuses(received)).toEqual(['IN_PROGRESS', 'COMPLETED', 'COMPLETED']));
    const again = received[2] as ReceivedWebhook;
    expect(again.headers['webhook-id']).toBe(done.id);
    expect(isVerified(again, await readWebhookSecret(service))).toBe(true);
    expect((await fetch(again.body.generated[0])).status).toBe(200);
    const log = await logAt(service, 'delivered', 'delivered');
    expect(log.map(({ attempts }) => attempts)).toEqual([1, 2]);
  });

  it('sends a pending one now, after the earlier ones of its task', async () => {
    const { service, received } = await endedTask((call) => (call === 1 ? waitLong : 204));
    const [first, last] = await waitFor(async () => {
      const log = await logAt(service, 'pending', 'pending');
      expect(log[0].attempts).toBe(1);
      return log;
    });
    const { status, body } = await changeDelivery(service, last.id, 'resend');
    expect([status, body.reason]).toEqual([200, `it waits for ${first.id}`]);
    const log = await logAt(service, 'delivered', 'delivered');
    expect(log.map(({ reason }) => reason)).toEqual([undefined, undefined]);
    expect(listStatuses(received)).toEqual(['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED']);
  });

  it('sends one that was answered 410, and later changes of its task too', async () => {
    const { service, received, taskId } = await endedTask((call) => (call === 1 ? 410 : 204));
    const [first] = await waitFor(async () => {
      const log = await listDeliveries(service);
      expect(log[0].status).toBe('gone');
      return log;
    });
    expect((await changeDelivery(service, first.id, 'resend')).body.reason).toBeUndefined();
    await waitFor(async () => expect((await listDeliveries(service))[0].status).toBe('delivered'));
    expect(listStatuses(received)).toEqual(['IN_PROGRESS', 'IN_PROGRESS']);
    const task = await service.context.database
      .selectFrom('tasks')
      .select('webhook_url')
      .where('id', '=', taskId)
      .executeTakeFirst();
    expect(task).toEqual({ webhook_url: first.url });
  });

  it('attempts one once that is older than 24 hours, without links to results that are removed', async () => {
    const clock = { ahead: 0 };
    const parts = { now: () => Date.now() + clock.ahead };
    const retention = { results: 7, deliveries: false } as const;
    const { service, received } = await endedTask((call) => (call === 3 ? 500 : 204), parts, { retention });
    const [, done] = await logAt(service, 'delivered', 'delivered');
    clock.ahead = 8 * 24 * hour;
    await changeDelivery(service, done.id, 'resend');
    const [, after] = await logAt(service, 'delivered', 'failed');
    expect(after).toMatchObject({ attempts: 2, reason: 'it answered 500' });
    expect(received[2]?.body.generated).toEqual([]);
  });
});

describe('cancelling a delivery', () => {
  it('ends a pending one, and the next one of its task is sent', async () => {
    const { service, received } = await endedTask((call) => (call === 1 ? waitLong : 204));
    const [first] = await waitFor(async () => {
      const log = await logAt(service, 'pending', 'pending');
      expect(log[0].attempts).toBe(1);
      return log;
    });
    const { body } = await changeDelivery(service, first.id, 'cancel');
    expect(body).toMatchObject({ status: 'cancelled', reason: 'cancelled by its user', attempts: 1 });
    expect(body).not.toHaveProperty('next_at');
    await logAt(service, 'cancelled', 'delivered');
    expect(listStatuses(received)).toEqual(['IN_PROGRESS', 'COMPLETED']);
    const jobs = () =>
      service.context.database
        .selectFrom('jobs')
        .select('kind')
        .where('kind', '=', 'deliver-webhook')
        .execute();
    await expect.poll(jobs).toEqual([]);
  });

  it('holds when the attempt that is under way fails', async () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { service, received } = await endedTask(async (call) => {
      if (call > 1) return 204;
      await opened;
      return 500;
    });
    const [first] = await logAt(service, 'pending', 'pending');
    await waitFor(() => expect(received).toHaveLength(1));
    expect((await changeDelivery(service, first.id, 'cancel')).status).toBe(200);
    open();
    const [cancelled] = await logAt(service, 'cancelled', 'delivered');
    expect(cancelled.reason).toBe('cancelled by its user');
  });

  it('is refused for one that is not pending', async () => {
    const { service } = await endedTask(() => 204);
    const [first] = await logAt(service, 'delivered', 'delivered');
    const { status, body } = await changeDelivery(service, first.id, 'cancel');
    expect([status, body.error]).toEqual([400, 'invalid_transition']);
    expect(body.message).toBe('Only a pending delivery can be cancelled; this one is delivered.');
  });
});

it.each(['resend', 'cancel'] as const)('%s finds no delivery of another user', async (verb) => {
  const { service, received } = await endedTask(() => 204);
  const [first] = await logAt(service, 'delivered', 'delivered');
  const eve = { url: service.url, ownerToken: await service.signFor({ sub: 'eve' }) };
  const { status, body } = await changeDelivery(eve, first.id, verb);
  expect([status, body.error]).toEqual([404, 'not_found']);
  expect((await changeDelivery(service, 'msg_none', verb)).status).toBe(404);
  await logAt(service, 'delivered', 'delivered');
  expect(received).toHaveLength(2);
});
