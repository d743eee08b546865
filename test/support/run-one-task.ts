import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { EngineFailure } from '../../src/service/operation/engine.js';
import type { RunningService } from '../../src/service/serve.js';
import { createCopyingEngine } from './copying-engine.js';
import { createFilmingEngine } from './filming-engine.js';
import { formatStatusPath, startPaths, unwrapTask } from './generation.js';
import type { ReceivedWebhook } from './receiver.js';
import { type Answered, ask, serviceForTest } from './service.js';
import { formatCreationsPath, videoPaths } from './videos.js';
import { waitFor } from './wait-for.js';
import { watchWrites } from './watch-writes.js';

/** A task and the statuses it goes through. */
export interface Course {
  readonly operation: 'image.relight' | 'video.text2video';
  readonly fields: object;
  /** Its statuses in order. */
  readonly statuses: readonly string[];
  /** Why it fails, if it does: its engine cannot make it, or is too late. */
  readonly fails?: 'unfit' | 'late';
}

/** What is known outside of a service: to the client of the task and to the receiver of its webhooks. */
export interface Known {
  id?: string;
  readonly seen: string[];
  readonly received: readonly ReceivedWebhook[];
}

interface Life {
  readonly data: string;
  /** The URL of its webhook. */
  readonly hook: string;
  readonly known: Known;
  /** How far the service's clock is ahead. Milliseconds. */
  readonly ahead?: number;
  /** Called after each durable write. */
  readonly wrote?: (what: string) => void;
}

const offPeakMs = 30_000;
/** Shorter than the lease of a job, which keeps running. */
const tooLongMs = 45_000;
const limits = { offPeakSeconds: offPeakMs / 1000 };
const prices = { image: { relight: 5 } };

/** Runs a service with one task until it is idle; the client always uses the same key. */
export async function runOneTask(course: Course, life: Life): Promise<RunningService> {
  const { data, hook, known, wrote = () => {} } = life;
  let { ahead = 0 } = life;
  const now = () => Date.now() + ahead;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const before = async () => {
    wrote('the engine begins');
    if (course.fails === 'unfit') throw new EngineFailure('It is too dark.');
    if (course.fails === 'late') await ended;
  };
  const engines = { image: createCopyingEngine(before), video: createFilmingEngine(before) };
  const service = await serviceForTest({ data, limits, prices, graceMs: 0 }, { engines, now });
  watchWrites(service.context, wrote);

  known.id = await startCourse(course, service, hook);
  while (known.seen.at(-1) !== course.statuses.at(-1)) {
    known.seen.push((await readCourse(course, service, known.id)).status);
    await pause(5);
    if (course.fails === 'late' && known.seen.at(-1) === 'processing') ahead = (life.ahead ?? 0) + tooLongMs;
  }
  end();
  const isBusy = () => service.context.queue.hasWorkBy(now() + 60_000);
  await waitFor(async () => expect(await isBusy()).toBe(false));
  return service;
}

const isImage = ({ operation }: Course) => operation === 'image.relight';

async function startCourse(course: Course, service: RunningService, hook: string): Promise<string> {
  const [path, webhook] = isImage(course)
    ? [startPaths['image.relight'], { webhook_url: hook }]
    : [videoPaths['video.text2video'], { callback_url: hook }];
  const { body } = await ask(service.url + path, {
    method: 'POST',
    token: service.ownerToken,
    headers: { 'idempotency-key': 'one-task' },
    json: { ...course.fields, ...webhook },
  });
  return unwrapTask(body).task_id;
}

/** Reads a task's status and the URLs of its results. */
export async function readCourse(
  course: Course,
  { url, ownerToken: token }: RunningService,
  id: string,
): Promise<{ status: string; made: string[] }> {
  const path = isImage(course) ? formatStatusPath('image.relight', id) : formatCreationsPath(id);
  const { body } = await ask(url + path, { token });
  if (isImage(course)) return { status: unwrapTask(body).status, made: unwrapTask(body).generated };
  const made = body.creations.flatMap((creation: Answered) => [creation.url, creation.cover_url]);
  return { status: body.state, made };
}
