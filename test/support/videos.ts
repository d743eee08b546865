import { expect } from 'vitest';
import { contract } from '../../src/contract/index.js';
import type { VideoOperation } from '../../src/service/operation/engine.js';
import { pixel } from './generation.js';
import { type Answered, ask } from './service.js';
import { waitFor } from './wait-for.js';

/** Where the tasks of each operation start. */
export const videoPaths: Readonly<Record<VideoOperation, string>> = {
  'video.text2video': contract.video.text2video.path,
  'video.startEnd2video': contract.video.startEnd2video.path,
  'video.extend': contract.video.extend.path,
};

/** The smallest body that starts a task; for an extension, with a video that does not exist. */
export const smallestVideos: Readonly<Record<VideoOperation, object>> = {
  'video.text2video': { prompt: 'A boat' },
  'video.startEnd2video': { images: [pixel] },
  'video.extend': { video_creation_id: 'unknown', video_url: 'http://127.0.0.1:9/a.mp4' },
};

interface Asking {
  readonly url: string;
  readonly token: string | undefined;
  readonly operation?: VideoOperation;
}

/** Starts a video task. @returns the answer */
export async function startVideo(
  { url, token, operation = 'video.text2video' }: Asking,
  fields: object = {},
): Promise<Answered> {
  const json = { ...smallestVideos[operation], ...fields };
  const { status, body } = await ask(url + videoPaths[operation], { method: 'POST', token, json });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

/** Where a task's creations are read. */
export function formatCreationsPath(taskId: string): string {
  return contract.video.creations.path.replace('{task_id}', taskId);
}

/** Waits until a task has this state. @returns the task with its creations */
export function waitForVideo({ url, token }: Asking, taskId: string, state = 'success'): Promise<Answered> {
  return waitFor(async () => {
    const { body } = await ask(url + formatCreationsPath(taskId), { token });
    expect(body.state).toBe(state);
    return body;
  });
}
