import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { mp4, png } from './generation-double.js';
import { listenOn } from './listen.js';

// A strict stand-in of Vidu's API, written from platform.vidu.com/docs: fields, models and numbers of images that a route
// does not have are refused.

const shared = [
  ...['model', 'prompt', 'duration', 'seed', 'resolution', 'movement_amplitude', 'bgm', 'audio', 'payload'],
  ...['off_peak', 'watermark', 'wm_position', 'wm_url', 'meta_data', 'callback_url'],
];
const imageModels = [
  ...[
    'viduq3-pro',
    'viduq3-turbo',
    'viduq2-pro-fast',
    'viduq2-pro',
    'viduq2-turbo',
    'viduq1',
    'viduq1-classic',
  ],
  'vidu2.0',
];

interface Route {
  readonly fields: readonly string[];
  readonly models: readonly string[];
  /** How many images it takes, from and to. */
  readonly images: readonly [number, number];
}

const routes: Readonly<Record<string, Route>> = {
  '/text2video': {
    fields: [...shared, 'style', 'aspect_ratio'],
    models: ['viduq3-pro', 'viduq3-turbo', 'viduq2', 'viduq1'],
    images: [0, 0],
  },
  '/img2video': {
    fields: [...shared, 'images', 'audio_type', 'voice_id', 'is_rec'],
    models: imageModels,
    images: [1, 1],
  },
  '/start-end2video': { fields: [...shared, 'images', 'is_rec'], models: imageModels, images: [2, 2] },
  '/extend': {
    fields: [
      ...['model', 'video_creation_id', 'video_url', 'images', 'prompt', 'duration', 'resolution', 'payload'],
      'callback_url',
    ],
    models: ['viduq2-pro', 'viduq2-turbo'],
    images: [0, 1],
  },
};

export interface ViduTask {
  readonly id: string;
  readonly route: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a body holds is for the test to assert
  readonly body: any;
  state: string;
  /** Changes with each look, as signed URLs do. */
  looks: number;
  errorCode?: string;
}

interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
}

interface ViduOptions {
  /** The header of the key, and what precedes the key in it. */
  readonly header?: readonly [name: string, scheme: string];
  /** The states of a task, look by look; the last stays. */
  readonly states?: readonly string[];
  /** The `err_code` of tasks that fail. */
  readonly errorCode?: string;
  /** Whether the answer to the n-th start is lost, before or after the task is made. */
  readonly loses?: (count: number) => 'before' | 'after' | undefined;
  /** The refusal of the n-th start. */
  readonly refuse?: (count: number) => Refusal | undefined;
  /** Called once a task is made, before its start is answered. */
  readonly onMade?: (task: ViduTask) => void | Promise<void>;
  /** How many requests it takes in a minute; more are answered with 429. */
  readonly perMinute?: number;
  /** What it charges for a task. */
  readonly credits?: number;
  /** After how many milliseconds a task ends, and is reported to its callback. */
  readonly takesMs?: number;
}

export interface Vidu {
  readonly url: string;
  readonly key: string;
  readonly tasks: Map<string, ViduTask>;
  /** What was fetched: `/files/wm.mp4`. */
  readonly fetched: string[];
  /** When a request came, and those that were too many. */
  readonly requests: number[];
  readonly refused: number[];
  /** Requests to read a task. */
  readonly looks: string[];
  /** Calls the callback of a task with its present state. */
  call(task: ViduTask, state?: string): Promise<number>;
}

export async function startVidu(options: ViduOptions = {}): Promise<Vidu> {
  const { credits = 20 } = options;
  const key = 'vda_secret';
  const tasks = new Map<string, ViduTask>();
  const fetched: string[] = [];
  const looks: string[] = [];
  const requests: number[] = [];
  const refused: number[] = [];
  let starts = 0;
  const { url, close } = await listenOn(answer);
  onTestFinished(close);

  async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(asked.url ?? '/', url);
    if (pathname.startsWith('/files/')) {
      fetched.push(pathname);
      const [file, type] = pathname.endsWith('.mp4') ? [mp4, 'video/mp4'] : [png, 'image/png'];
      response.writeHead(200, { 'content-type': type, 'content-length': file.length }).end(file);
      return;
    }
    const refuse = (status: number, reason: string, message: string) =>
      send(response, status, { code: status, reason, message, metadata: { trace_id: randomUUID() } });
    const [header, scheme] = options.header ?? ['authorization', 'Token '];
    if (asked.headers[header] !== `${scheme}${key}`)
      return refuse(401, 'Unauthorized', 'the api key is missing or invalid');
    const now = Date.now();
    if (
      requests.filter((at) => now - at < 60_000).length >= (options.perMinute ?? Number.POSITIVE_INFINITY)
    ) {
      refused.push(now);
      return refuse(429, 'TooManyRequests', 'too many requests');
    }
    requests.push(now);
    const path = pathname.replace(/^\/ent\/v2/, '');
    if (asked.method === 'POST' && routes[path]) return start(path, await readJson(asked), response, refuse);
    if (asked.method === 'GET' && path === '/tasks') {
      if (Number.isNaN(Date.parse(searchParams.get('created_at.from') ?? '')))
        return refuse(400, 'FieldInvalid', 'invalid field: created_at.from');
      const listed = [...tasks.values()].map(({ id, state, body }) => ({ id, state, payload: body.payload }));
      return send(response, 200, { tasks: listed, next_page_token: '' });
    }
    const [, id = '', verb] = /^\/tasks\/([^/]+)\/(creations|cancel)$/.exec(path) ?? [];
    const task = tasks.get(id);
    if (!task) return refuse(404, 'TaskNotFound', 'task not found');
    if (verb === 'creations' && asked.method === 'GET') {
      looks.push(id);
      task.looks += 1;
      const { states = ['created', 'queueing', 'processing', 'success'] } = options;
      if (!['failed', 'success'].includes(task.state))
        task.state = states[Math.min(task.looks - 1, states.length - 1)] as string;
      return send(response, 200, view(task));
    }
    if (verb === 'cancel' && asked.method === 'POST') {
      const body = await readJson(asked);
      if (Object.keys(body).join() !== 'id' || body.id !== id)
        return refuse(400, 'FieldInvalid', 'invalid field: id');
      if (task.state === 'processing' || task.state === 'success')
        return refuse(400, 'BadRequest', 'task state is scheduled, can not cancel');
      Object.assign(task, { state: 'failed', errorCode: 'UserCancelled' });
      return send(response, 200, {});
    }
    refuse(404, 'NotFound', 'no such route');
  }

  async function start(
    route: string,
    // biome-ignore lint/suspicious/noExplicitAny: a body of a stranger
    body: any,
    response: ServerResponse,
    refuse: (...given: [number, string, string]) => void,
  ) {
    const { fields, models, images } = routes[route] as Route;
    starts += 1;
    const unknown = Object.keys(body).find((field) => !fields.includes(field));
    if (unknown) return refuse(400, 'FieldUnwanted', `unwanted field: ${unknown}`);
    if (!models.includes(body.model)) return refuse(400, 'FieldInvalid', 'invalid field: model');
    const { length } = body.images ?? [];
    if (length < images[0] || length > images[1])
      return refuse(400, 'FieldItemCountOutOfRange', 'field item count out of range: images');
    if (route === '/text2video' && !body.prompt) return refuse(400, 'FieldLacking', 'lacking field: prompt');
    for (const image of body.images ?? []) {
      if (/^http:/.test(image)) {
        const file = await fetch(image);
        if (file.status !== 200 || !/^image\/(png|jpeg|webp)$/.test(file.headers.get('content-type') ?? ''))
          return refuse(400, 'ImageDownloadFailure', 'image download failure');
        const { byteLength } = await file.arrayBuffer();
        if (byteLength > 50 * 1024 ** 2 || String(byteLength) !== file.headers.get('content-length'))
          return refuse(400, 'ImageFormatInvalid', 'image is too large');
      } else if (!/^data:image\/(png|jpeg|webp);base64,[A-Za-z0-9+/]{1,13981016}=*$/.test(image))
        return refuse(400, 'ImageFormatInvalid', 'image format invalid');
    }
    if (body.resolution !== undefined && !['360p', '540p', '720p', '1080p'].includes(body.resolution))
      return refuse(400, 'FieldInvalid', 'invalid field: resolution');
    if (
      body.video_creation_id !== undefined &&
      ![...tasks.keys()].includes(body.video_creation_id.replace(/^c-/, ''))
    )
      return refuse(404, 'CreationNotFound', 'creation not found');
    const refusal = options.refuse?.(starts);
    if (refusal) return refuse(refusal.status, refusal.reason, refusal.message);
    const lost = options.loses?.(starts);
    if (lost === 'before') return void response.destroy();
    const task: ViduTask = { id: randomUUID(), route, body, state: 'created', looks: 0 };
    tasks.set(task.id, task);
    await options.onMade?.(task);
    if (options.takesMs !== undefined) {
      const timer = setTimeout(() => {
        task.state = 'success';
        if (body.callback_url) void call(task);
      }, options.takesMs);
      onTestFinished(() => clearTimeout(timer));
    }
    if (lost === 'after') return void response.destroy();
    const { images: _, ...echoed } = body;
    send(response, 200, { task_id: task.id, state: 'created', credits, ...echoed });
  }

  function view(task: ViduTask): object {
    const { id, state, body, looks: count } = task;
    const signed = (name: string) => `${url}/files/${name}?signature=${count}`;
    const creations = [
      {
        id: `c-${id}`,
        url: signed('plain.mp4'),
        watermarked_url: signed('wm.mp4'),
        cover_url: signed('cover.png'),
      },
    ];
    const code = state === 'failed' ? (task.errorCode ?? options.errorCode ?? 'InternalServiceFailure') : '';
    return {
      ...{ id, state, err_code: code, credits, payload: body.payload ?? '' },
      creations: state === 'success' ? creations : [],
    };
  }

  async function call(task: ViduTask, state = task.state): Promise<number> {
    const { status } = await fetch(task.body.callback_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hmac-signature': 'unused' },
      body: JSON.stringify(view({ ...task, state })),
    });
    return status;
  }

  return { url: `${url}/ent/v2`, key, tasks, fetched, requests, refused, looks, call };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

// biome-ignore lint/suspicious/noExplicitAny: a body of a stranger
async function readJson(asked: IncomingMessage): Promise<any> {
  const parts: Buffer[] = [];
  for await (const part of asked) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString() || '{}');
}
