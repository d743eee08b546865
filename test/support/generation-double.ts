import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { contract } from '../../src/contract/index.js';
import { type Operation, operations } from '../../src/contract/operation.js';
import { check } from '../../src/contract/problems.js';

/** One request to start a task, as it came. */
export interface Asked {
  readonly operation: string;
  readonly key: string | undefined;
  readonly token: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: what a body holds is for the test to assert
  readonly body: any;
}

export interface DoubleOptions {
  /** Whether operations that service.md does not list are there. Default true. */
  readonly extensions?: boolean;
  /** What a task is seen to be, look by look; the last stays. Default CREATED, IN_PROGRESS, COMPLETED. */
  readonly states?: readonly string[];
  /** How many files a task makes. Default 1. */
  readonly files?: number;
  /** The id of each new task. Default a random one. */
  readonly id?: () => string;
  /** The refusal of the n-th start, if it is refused. */
  readonly refuse?: (count: number) => { readonly status: number; readonly error: string } | undefined;
  /** Called before a start is answered; `false`: the answer is lost. */
  readonly onStart?: (asked: Asked, count: number) => boolean | Promise<boolean>;
}

export interface GenerationDouble {
  readonly url: string;
  readonly asked: Asked[];
  /** The tasks that were begun. */
  readonly tasks: Map<string, { looks: number }>;
  /** Credentials that came along with looks at a task. */
  readonly looks: (string | undefined)[];
  /** Credentials that came along with requests for result files. */
  readonly leaked: string[];
}

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const routes = Array.from(operations({ image: contract.image }), ([name, operation]) => ({
  name,
  operation,
  form: new RegExp(`^${operation.path.replace(/\{\w+\}/g, '([^/]+)')}$`),
}));

/** A service that generates nothing but knows the contract: for what only another service than ours does. */
export async function generationDouble(options: DoubleOptions = {}): Promise<GenerationDouble> {
  const { extensions = true, states = ['CREATED', 'IN_PROGRESS', 'COMPLETED'], files = 1 } = options;
  const asked: Asked[] = [];
  const leaked: string[] = [];
  const looks: (string | undefined)[] = [];
  const tasks = new Map<string, { looks: number }>();
  const byKey = new Map<string, string>();

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://double');
    if (pathname.startsWith('/results/')) {
      if (request.headers.authorization) leaked.push(request.headers.authorization);
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': png.length }).end(png);
      return;
    }
    const route = routes.find(
      ({ operation, form }) => operation.method === request.method && form.test(pathname),
    );
    if (!route || (route.operation.extension && !extensions)) {
      return json(response, 404, { error: 'not_found', message: 'There is nothing here.' });
    }
    if (route.operation.method === 'POST') return start(route, request, response);
    const id = decodeURIComponent(route.form.exec(pathname)?.[1] ?? '');
    const task = tasks.get(id);
    looks.push(request.headers.authorization);
    if (!task) return json(response, 404, { error: 'not_found', message: `There is no task ${id}.` });
    task.looks += 1;
    json(
      response,
      200,
      answerOf(route.operation, id, states[Math.min(task.looks, states.length - 1)] as string),
    );
  });

  async function start(route: (typeof routes)[number], request: IncomingMessage, response: ServerResponse) {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString());
    const key = request.headers['idempotency-key'] as string | undefined;
    const one = { operation: route.name, key, token: request.headers.authorization, body };
    asked.push(one);
    const checked = check(route.operation.body as NonNullable<Operation['body']>, body);
    if (!checked.ok) {
      const details = checked.problems.map(({ path, message }) => ({ path: path.join('.'), message }));
      return json(response, 400, { error: 'invalid_request', message: 'Something is wrong.', details });
    }
    const refused = options.refuse?.(asked.length);
    if (refused) return json(response, refused.status, { error: refused.error, message: 'Not now.' });
    const id = (key && byKey.get(key)) || (options.id ?? randomUUID)();
    if (key) byKey.set(key, id);
    if (!tasks.has(id)) tasks.set(id, { looks: 0 });
    if ((await options.onStart?.(one, asked.length)) === false) return void request.socket.destroy();
    json(response, 200, answerOf(route.operation, id, states[0] as string));
  }

  function answerOf({ response }: Operation, id: string, status: string) {
    const count = status === 'COMPLETED' ? files : 0;
    const generated = Array.from(
      { length: count },
      (_, at) => `${url}/results/${encodeURIComponent(id)}-${at}`,
    );
    const task = { generated, status, task_id: id };
    return response && 'shape' in response && 'data' in (response.shape as object) ? { data: task } : task;
  }

  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, tasks, looks, leaked };
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
