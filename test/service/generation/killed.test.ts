import { cpSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunningService } from '../../../src/service/serve.js';
import { pixel } from '../../support/generation.js';
import { listFiles } from '../../support/list-files.js';
import {
  isSigned,
  listDeliveries,
  type ReceivedWebhook,
  readWebhookSecret,
  receiverForTest,
} from '../../support/receiver.js';
import { type Course, type Known, readCourse, runOneTask } from '../../support/run-one-task.js';
import { folderForTest } from '../../support/service.js';

interface Case extends Course {
  /** Its price. */
  readonly credits: number;
  /** Its files. */
  readonly files: readonly string[];
  /** Writes after which a kill must have been simulated. */
  readonly reached: readonly string[];
}

const waiting = ['created', 'queueing', 'processing'];
const frame = { prompt: 'A boat', images: [pixel] };
const cases: Readonly<Record<string, Case>> = {
  'an image': {
    operation: 'image.relight',
    fields: { image: pixel },
    credits: 5,
    statuses: ['CREATED', 'IN_PROGRESS', 'COMPLETED'],
    files: ['0.png'],
    reached: ['write inputs/image', 'write results/0.png', 'remove inputs/image'],
  },
  'a video from a start frame': {
    operation: 'video.text2video',
    fields: frame,
    credits: 30,
    statuses: [...waiting, 'success'],
    files: ['0.mp4', '1.png'],
    reached: ['write inputs/images.0', 'write results/0.mp4', 'write results/1.png'],
  },
  'a video that cannot be made': {
    operation: 'video.text2video',
    fields: frame,
    credits: 30,
    statuses: [...waiting, 'failed'],
    fails: 'unfit',
    files: [],
    reached: ['write inputs/images.0', 'remove inputs/images.0'],
  },
  'an off-peak video whose time is over': {
    operation: 'video.text2video',
    fields: { prompt: 'A boat', off_peak: true },
    credits: 15,
    statuses: [...waiting, 'failed'],
    fails: 'late',
    files: [],
    // The result that the engine still makes.
    reached: ['write results/0.mp4', 'write results/1.png', 'remove results/0.mp4'],
  },
};

/** For every task with a webhook. */
const alwaysReached = [
  expect.stringContaining('insert tasks, insert credits, insert events, insert jobs'),
  expect.stringContaining('update tasks, insert events, insert webhook_deliveries'),
  'the engine begins',
  'insert webhook_secrets',
  'the webhook is told',
  'update webhook_deliveries',
];

/** The data of a service that is killed right after one of its writes. */
interface Remains extends Known {
  readonly after: string;
  readonly data: string;
}

type Receiver = Awaited<ReturnType<typeof receiverForTest>>;

it.each(Object.keys(cases))(
  '%s ends with one result or one refund, delivered in order, after a kill behind any write',
  async (name) => {
    const course = cases[name] as Case;
    let wrote: ((what: string) => void) | undefined;
    const receiver = await receiverForTest((call) => {
      wrote?.('the webhook is told');
      // The first attempt fails, so that kills during a retry are simulated too.
      return call === 1 ? 500 : 204;
    });
    const remains: Remains[] = [];
    const known: Known = { seen: [], received: receiver.received };
    const data = folderForTest();
    const copies = folderForTest();
    // A copy of the disk after each write is what a kill at that moment leaves: one run covers all kills.
    wrote = (after) => {
      const copy = join(copies, String(remains.length));
      // A socket cannot be copied, and says nothing.
      cpSync(data, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
      remains.push({ ...structuredClone(known), after, data: copy });
    };
    await (await runOneTask(course, { data, hook: receiver.url, known, wrote })).stop();
    wrote = undefined;

    for (const left of remains) await expectWhole(course, left, receiver);
    expect(remains.map(({ after }) => after)).toEqual(
      expect.arrayContaining([...alwaysReached, ...course.reached]),
    );
  },
);

/** Everything about the task, once a service has continued with the data. */
async function expectWhole(course: Case, left: Remains, receiver: Receiver): Promise<void> {
  const point = `killed after: ${left.after}`;
  const toldBefore = receiver.received.length;
  const known: Known = { seen: [...left.seen], received: [] };
  // Two hours later, so that scheduled jobs are due at once.
  const service = await runOneTask(course, {
    data: left.data,
    hook: receiver.url,
    known,
    ahead: 2 * 3_600_000,
  });
  const id = known.id as string;
  if (left.id !== undefined) expect(id, point).toBe(left.id);
  const steps = known.seen.map((status) => course.statuses.indexOf(status));
  expect(steps, point).toEqual([...steps].sort());

  const { made } = await readCourse(course, service, id);
  expect(made, point).toHaveLength(course.files.length);
  for (const url of made) expect((await fetch(url)).status, point).toBe(200);
  expect(
    listFiles(join(left.data, 'objects'))
      .map((path) => basename(path))
      .sort(),
    point,
  ).toEqual(course.files);
  expect(await readRecords(service), point).toEqual({
    tasks: [id],
    history: course.statuses,
    credits: [['charge', course.credits], ...(course.fails ? [['refund', course.credits]] : [])],
  });
  await expectWebhooksInTurn(
    course,
    service,
    [...left.received, ...receiver.received.slice(toldBefore)],
    point,
  );
  await service.stop();
  rmSync(left.data, { recursive: true });
}

async function readRecords({ context: { database } }: RunningService) {
  const tasks = await database.selectFrom('tasks').select('id').execute();
  const credits = await database.selectFrom('credits').select(['kind', 'amount']).orderBy('kind').execute();
  const history = await database
    .selectFrom('events')
    .select('status')
    .where('subject_kind', '=', 'task')
    .orderBy('id')
    .execute();
  return {
    tasks: tasks.map(({ id }) => id),
    credits: credits.map(({ kind, amount }) => [kind, amount]),
    history: history.map(({ status }) => status),
  };
}

/** Repeated deliveries have the same id, and none came late or before its change was committed. */
async function expectWebhooksInTurn(
  { statuses }: Case,
  service: RunningService,
  received: readonly ReceivedWebhook[],
  point: string,
): Promise<void> {
  const due = statuses.filter((status) => !['CREATED', 'created', 'queueing'].includes(status));
  const log = await listDeliveries(service);
  expect(
    log.map(({ state, status }) => [state, status]),
    point,
  ).toEqual(due.map((state) => [state, 'delivered']));
  const sequence = received.map(
    ({ headers, body }) => `${headers['webhook-id']} ${body.status ?? body.state}`,
  );
  const inTurn = sequence.filter((one, at) => one !== sequence[at - 1]);
  expect(inTurn, point).toEqual(log.map(({ id, state }) => `${id} ${state}`));
  const secret = await readWebhookSecret(service);
  expect(
    received.every((one) => isSigned(one, secret)),
    point,
  ).toBe(true);
}
