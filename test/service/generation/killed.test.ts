import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunningService } from '../../../src/service/serve.js';
import { pixel } from '../../support/generation.js';
import { type Course, type Known, live, look } from '../../support/one-task.js';
import { deliveriesOf, isSigned, receiverForTest, type Told, webhookSecret } from '../../support/receiver.js';
import { folderForTest } from '../../support/service.js';

interface Case extends Course {
  /** What it costs. */
  readonly credits: number;
  /** What is kept of it. */
  readonly files: readonly string[];
  /** Writes after which a kill must have been tried. */
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
    reached: ['stage inputs/image', 'commit inputs/image', 'commit results/0.png', 'remove inputs/image'],
  },
  'a video from a start frame': {
    operation: 'video.text2video',
    fields: frame,
    credits: 30,
    statuses: [...waiting, 'success'],
    files: ['0.mp4', '1.png'],
    reached: [
      'commit inputs/images.0',
      'stage results/0.mp4',
      'commit results/0.mp4',
      'commit results/1.png',
    ],
  },
  'a video that cannot be made': {
    operation: 'video.text2video',
    fields: frame,
    credits: 30,
    statuses: [...waiting, 'failed'],
    fails: 'unfit',
    files: [],
    reached: ['commit inputs/images.0', 'remove inputs/images.0'],
  },
  'an off-peak video whose time is over': {
    operation: 'video.text2video',
    fields: { prompt: 'A boat', off_peak: true },
    credits: 15,
    statuses: [...waiting, 'failed'],
    fails: 'late',
    files: [],
    // What the engine makes of it after all.
    reached: ['stage results/0.mp4', 'stage results/1.png'],
  },
};

/** Of every task with a webhook. */
const alwaysReached = [
  expect.stringContaining('insert tasks, insert credits, insert events, insert jobs'),
  expect.stringContaining('update tasks, insert events, insert webhook_deliveries'),
  'the engine begins',
  'insert webhook_secrets',
  'the webhook is told',
  'update webhook_deliveries',
];

/** What a service leaves that is killed right after one of its writes. */
interface Remains extends Known {
  readonly after: string;
  readonly data: string;
}

type Receiver = Awaited<ReturnType<typeof receiverForTest>>;

it.each(Object.keys(cases))(
  'ends %s with one result or one refund, told in order, whichever write was the last before a kill',
  async (name) => {
    const course = cases[name] as Case;
    let wrote: ((what: string) => void) | undefined;
    const receiver = await receiverForTest((call) => {
      wrote?.('the webhook is told');
      // The first attempt fails, so that a retry is among what is cut.
      return call === 1 ? 500 : 204;
    });
    const remains: Remains[] = [];
    const known: Known = { seen: [], told: receiver.told };
    const data = folderForTest();
    const copies = folderForTest();
    // The disk of a killed process holds what another reads there at that moment: one life tells of all its deaths.
    wrote = (after) => {
      const copy = join(copies, String(remains.length));
      cpSync(data, copy, { recursive: true });
      remains.push({ ...structuredClone(known), after, data: copy });
    };
    await (await live(course, { data, hook: receiver.url, known, wrote })).stop();
    wrote = undefined;

    for (const left of remains) await expectWhole(course, left, receiver);
    expect(remains.map(({ after }) => after)).toEqual(
      expect.arrayContaining([...alwaysReached, ...course.reached]),
    );
  },
  120_000,
);

/** Everything there is to say of the one task, once a service has gone on with what was left. */
async function expectWhole(course: Case, left: Remains, receiver: Receiver): Promise<void> {
  const point = `killed after: ${left.after}`;
  const toldBefore = receiver.told.length;
  const known: Known = { seen: [...left.seen], told: [] };
  // Two hours later, so that what was left for then is done at once.
  const service = await live(course, { data: left.data, hook: receiver.url, known, ahead: 2 * 3_600_000 });
  const id = known.id as string;
  if (left.id !== undefined) expect(id, point).toBe(left.id);
  const steps = known.seen.map((status) => course.statuses.indexOf(status));
  expect(steps, point).toEqual([...steps].sort());

  const { made } = await look(course, service, id);
  expect(made, point).toHaveLength(course.files.length);
  for (const url of made) expect((await fetch(url)).status, point).toBe(200);
  expect(filesIn(join(left.data, 'objects')), point).toEqual(course.files);
  expect(await recordsOf(service), point).toEqual({
    tasks: [id],
    history: course.statuses,
    credits: [['charge', course.credits], ...(course.fails ? [['refund', course.credits]] : [])],
  });
  await expectTold(course, service, [...left.told, ...receiver.told.slice(toldBefore)], point);
  await service.stop();
  rmSync(left.data, { recursive: true });
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();
}

async function recordsOf({ context: { database } }: RunningService) {
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

/** What came twice came under one id, and nothing came late, or before it was to be told for good. */
async function expectTold(
  { statuses }: Case,
  service: RunningService,
  told: readonly Told[],
  point: string,
): Promise<void> {
  const due = statuses.filter((status) => !['CREATED', 'created', 'queueing'].includes(status));
  const log = await deliveriesOf(service);
  expect(
    log.map(({ state, status }) => [state, status]),
    point,
  ).toEqual(due.map((state) => [state, 'delivered']));
  const heard = told.map(({ headers, body }) => `${headers['webhook-id']} ${body.status ?? body.state}`);
  const inTurn = heard.filter((one, at) => one !== heard[at - 1]);
  expect(inTurn, point).toEqual(log.map(({ id, state }) => `${id} ${state}`));
  const secret = await webhookSecret(service);
  expect(
    told.every((one) => isSigned(one, secret)),
    point,
  ).toBe(true);
}
