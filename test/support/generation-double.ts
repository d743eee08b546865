import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { contract } from '../../src/contract/index.js';
import { listOperations, type Operation } from '../../src/contract/operation.js';
import type { Prices } from '../../src/contract/prices.js';
import { checkValue } from '../../src/contract/schema/check.js';

/** One request to start a task, as it came. */
export interface Asked {
  readonly operation: string;
  readonly key: string | undefined;
  readonly token: string | undefined;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: what a body holds is for the test to assert
  readonly body: any;
}

/** A refusal; its message is `Not now.` where there is none. */
export interface Refusal {
  readonly status: number;
  readonly error: string;
  readonly message?: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
  /** Seconds after which to ask again. */
  readonly retryAfter?: number;
}

export interface DoubleOptions {
  /** Whether operations that service.md does not list are there. Default true. */
  readonly extensions?: boolean;
  /** What a task is seen to be, look by look; the last stays. Default all the way to its success. */
  readonly states?: readonly string[];
  /** Whether the task that was asked for ends badly, at the first look. */
  readonly fails?: (asked: Asked) => boolean;
  /** Whether the task of the n-th start does not end before `endAll` is called. */
  readonly stuck?: (asked: Asked, count: number) => boolean;
  /** What generation costs; absent: it does not tell. */
  readonly prices?: Prices;
  /** How many files a task makes. Default 1. */
  readonly files?: number;
  /** The id of each new task. Default a random one. */
  readonly id?: () => string;
  /** The refusal of the n-th start, if it is refused. */
  readonly refuse?: (count: number) => Refusal | undefined;
  /** Called before a start is answered; `false`: the answer is lost. */
  readonly onStart?: (asked: Asked, count: number) => boolean | Promise<boolean>;
}

interface BegunTask {
  /** The operation that reads it. */
  readonly read: string | undefined;
  readonly fails: boolean;
  readonly stuck: boolean;
  looks: number;
}

export interface GenerationDouble {
  readonly url: string;
  readonly asked: Asked[];
  /** The tasks that were begun. */
  readonly tasks: Map<string, BegunTask>;
  /** Credentials that came along with looks at a task. */
  readonly looks: (string | undefined)[];
  /** Credentials that came along with requests for result files. */
  readonly leaked: string[];
  /** Keeps what it knows of tasks. @returns what brings that back */
  remember(): () => void;
  /** From now on every task has come to its end. */
  endAll(): void;
  /** Goes away before the test ends. */
  close(): Promise<void>;
}

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** The head of an MP4. */
export const mp4 = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypisom\0\0\x02\0isomiso2')]);

const imageStates = ['CREATED', 'IN_PROGRESS', 'COMPLETED'];
const videoStates = ['created', 'queueing', 'processing', 'success'];

const { image, video } = contract;
const routes = Array.from(listOperations({ image, video }), ([name, operation]) => ({
  name,
  operation,
  form: new RegExp(`^${operation.path.replace(/\{\w+\}/g, '([^/]+)')}$`),
}));

/** A service that generates nothing but knows the contract: for what only another service than ours does. */
export async function generationDoubleForTest(options: DoubleOptions = {}): Promise<GenerationDouble> {
  const { extensions = true, files = 1, prices } = options;
  const asked: Asked[] = [];
  const leaked: string[] = [];
  const looks: (string | undefined)[] = [];
  const tasks = new Map<string, BegunTask>();
  const byKey = new Map<string, string>();
  let allEnded = false;

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://double');
    if (pathname.startsWith('/results/')) {
      if (request.headers.authorization) leaked.push(request.headers.authorization);
      const [file, type] = pathname.endsWith('.mp4') ? [mp4, 'video/mp4'] : [png, 'image/png'];
      response.writeHead(200, { 'content-type': type, 'content-length': file.length }).end(file);
      return;
    }
    const route = routes.find(
      ({ operation, form }) => operation.method === request.method && form.test(pathname),
    );
    if (route?.name === 'video.prices' && prices) return sendJson(response, 200, prices);
    if (!route || route.name === 'video.prices' || (route.operation.extension && !extensions)) {
      return sendJson(response, 404, { error: 'not_found', message: 'There is nothing here.' });
    }
    if (route.operation.method === 'POST') return startTask(route, request, response);
    const id = decodeURIComponent(route.form.exec(pathname)?.[1] ?? '');
    const task = tasks.get(id);
    looks.push(request.headers.authorization);
    if (task?.read !== route.name)
      return sendJson(response, 404, { error: 'not_found', message: `There is no task ${id}.` });
    task.looks += 1;
    sendJson(response, 200, createAnswer(route, id, task.looks));
  });

  async function startTask(
    route: (typeof routes)[number],
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString());
    const key = request.headers['idempotency-key'] as string | undefined;
    const { headers } = request;
    const one = { operation: route.name, key, token: headers.authorization, headers, body };
    asked.push(one);
    const checked = checkValue(route.operation.body as NonNullable<Operation['body']>, body);
    if (!checked.ok) {
      const details = checked.problems.map(({ path, message }) => ({ path: path.join('.'), message }));
      return sendJson(response, 400, { error: 'invalid_request', message: 'Something is wrong.', details });
    }
    const refused = options.refuse?.(asked.length);
    if (refused) {
      const { status, retryAfter, ...received } = refused;
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
      return sendJson(response, status, { message: 'Not now.', ...received });
    }
    const id = (key && byKey.get(key)) || (options.id ?? randomUUID)();
    if (key) byKey.set(key, id);
    if (!tasks.has(id)) {
      tasks.set(id, {
        read: route.operation.task?.read,
        looks: 0,
        fails: options.fails?.(one) === true,
        stuck: options.stuck?.(one, asked.length) === true,
      });
    }
    if ((await options.onStart?.(one, asked.length)) === false) return void request.socket.destroy();
    sendJson(response, 200, {
      ...createAnswer(route, id, 0),
      ...(route.name.startsWith('video.') && echoRequest(body)),
    });
  }

  function createAnswer({ name, operation }: (typeof routes)[number], id: string, looks: number): object {
    const isVideo = name.startsWith('video.');
    const all = isVideo ? videoStates : imageStates;
    const states =
      allEnded && looks > 0
        ? all.slice(-1)
        : (options.states ?? (tasks.get(id)?.stuck ? all.slice(0, 2) : all));
    const failed = isVideo ? 'failed' : 'FAILED';
    const state = tasks.get(id)?.fails ? failed : (states[Math.min(looks, states.length - 1)] as string);
    const count = ['COMPLETED', 'success'].includes(state) ? files : 0;
    const made = Array.from({ length: count }, (_, at) => `${url}/results/${encodeURIComponent(id)}-${at}`);
    if (isVideo) return looks === 0 ? { task_id: id, state, credits: 20 } : createCreations(id, state, made);
    const task = { generated: made, status: state, task_id: id };
    const { response } = operation;
    return response && 'shape' in response && 'data' in (response.shape as object) ? { data: task } : task;
  }

  // On a busy machine a connection that was idle for the usual 5 seconds would be closed under a request.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const close = () =>
    new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  onTestFinished(close);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const remember = () => {
    const [tasksThen, byKeyThen] = [structuredClone(tasks), new Map(byKey)];
    return () => {
      replaceEntries(tasks, tasksThen);
      replaceEntries(byKey, byKeyThen);
    };
  };
  const endAll = () => {
    allEnded = true;
  };
  return { url, asked, tasks, looks, leaked, remember, endAll, close };
}

function replaceEntries<Key, Value>(map: Map<Key, Value>, other: ReadonlyMap<Key, Value>): void {
  map.clear();
  for (const [key, value] of other) map.set(key, value);
}

function createCreations(id: string, state: string, made: readonly string[]) {
  return {
    id,
    state,
    err_code: state === 'failed' ? 'too_dark' : '',
    credits: 20,
    payload: '',
    creations: made.map((at, index) => ({
      id: `${id}-${index}`,
      url: `${at}.mp4?signed=${Math.random()}`,
      cover_url: `${at}.png`,
      watermarked_url: '',
    })),
  };
}

function echoRequest({ seed = 7, model = 'vvq3-pro' }: { seed?: number; model?: string }) {
  return { seed, model, created_at: new Date(0).toISOString() };
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
