import { expect, it } from 'vitest';
import { advanceTask, type TaskStep } from '../../../src/service/generation/task-states.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { createFilmingEngine } from '../../support/filming-engine.js';
import { startTask, waitForTask } from '../../support/generation.js';
import { registryForFile } from '../../support/registry.js';
import { startVideo, waitForVideo } from '../../support/videos.js';

const engines = { image: createCopyingEngine(), video: createFilmingEngine() };
const registry = registryForFile({ prices: { image: { relight: 5 } } }, { engines });

const steps: readonly TaskStep[] = [
  { to: 'failed', reason: 'Too late.', code: 'late', cause: 'service' },
  { to: 'done', results: [] },
  { to: 'running' },
];

it.each(['image.relight', 'video.text2video'] as const)(
  'no later step changes a finished task of %s or its credits',
  async (operation) => {
    const { service, tokens, url, change } = registry();
    const { context } = service;
    const ann = { url, token: tokens.ann };
    const readTask = (id: string) =>
      context.database.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst();
    const readCredits = (id: string) =>
      context.database.selectFrom('credits').select('kind').where('task_id', '=', id).execute();

    const isImage = operation === 'image.relight';
    const id: string = isImage ? await startTask(ann) : (await startVideo(ann)).task_id;
    await (isImage ? waitForTask(ann, id) : waitForVideo(ann, id));
    const finished = await readTask(id);
    for (const step of steps) {
      expect(await change((tx) => advanceTask(tx, context, { id, operation }, step))).toBe(false);
    }
    expect(await readTask(id)).toEqual(finished);
    expect(await readCredits(id)).toEqual([{ kind: 'charge' }]);
  },
);
