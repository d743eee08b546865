import { crc32 } from 'node:zlib';
import { expect } from 'vitest';
import type { ImageOperation } from '../../src/service/operation/engine.js';
import { type Answered, ask } from './service.js';
import { waitFor } from './wait-for.js';

/** A PNG of one pixel, as Base64. */
export const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';

/** A PNG whose header declares this size; its content is one pixel. */
export function createPngHeader(width: number, height: number): Buffer {
  const png = Buffer.from(pixel, 'base64');
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  png.writeUInt32BE(crc32(png.subarray(12, 29)), 29);
  return png;
}

/** Where the tasks of each operation start. */
export const startPaths: Readonly<Record<ImageOperation, string>> = {
  'image.relight': '/proxy/imagevendor/v1/ai/image-relight',
  'image.styleTransfer': '/proxy/imagevendor/v1/ai/image-style-transfer',
  'image.skinEnhancer': '/proxy/imagevendor/v1/ai/skin-enhancer/creative',
  'image.upscaler': '/proxy/imagevendor/v1/ai/image-upscaler-precision-v2',
};

/** Where a task's status is read. */
export function formatStatusPath(operation: ImageOperation, taskId: string): string {
  return `${startPaths[operation].replace('/creative', '')}/${taskId}`;
}

/** The least that starts a task. */
export function createSmallestBody(operation: ImageOperation): Record<string, unknown> {
  return { image: pixel, ...(operation === 'image.styleTransfer' && { reference_image: pixel }) };
}

/** A task in an answer of either form. */
export const unwrapTask = (body: Answered): Answered => body.data ?? body;

interface Asking {
  readonly url: string;
  readonly token: string | undefined;
  readonly operation?: ImageOperation;
}

/** The id of a new task. */
export async function startTask(
  { url, token, operation = 'image.relight' }: Asking,
  fields: object = {},
): Promise<string> {
  const json = { ...createSmallestBody(operation), ...fields };
  const { status, body } = await ask(url + startPaths[operation], { method: 'POST', token, json });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return unwrapTask(body).task_id;
}

/** A task, as its status operation shows it. */
export async function readTask(
  { url, token, operation = 'image.relight' }: Asking,
  id: string,
): Promise<Answered> {
  return unwrapTask((await ask(url + formatStatusPath(operation, id), { token })).body);
}

/** A task once it has this status. */
export function waitForTask(asking: Asking, id: string, status = 'COMPLETED'): Promise<Answered> {
  return waitFor(async () => {
    const task = await readTask(asking, id);
    expect(task.status).toBe(status);
    return task;
  });
}
