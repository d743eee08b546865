import { request } from 'node:http';
import { expect, it } from 'vitest';
import { errorCodes } from '../../../src/contract/error-codes.js';
import { contract } from '../../../src/contract/index.js';
import { listOperations } from '../../../src/contract/operation.js';
import { checkAnswer } from '../../support/check-answer.js';
import { ODD_QUERIES, ODD_SEGMENTS, ODD_TYPES } from '../../support/odd-requests.js';
import { registryForFile, type Who } from '../../support/registry.js';

const registry = registryForFile();

/** The same numbers every time, so that a failure can be reproduced. */
function createNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const next = createNumbers(20_260_131);
const pickOne = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item;

const texts = [...ODD_SEGMENTS, 'pack', 'v2'];
const queries = ['', ...ODD_QUERIES];
const types = ['application/json', ...ODD_TYPES];

function createValue(depth: number): unknown {
  const kind = next();
  if (depth > 0 && kind < 0.2) return Array.from({ length: 3 }, () => createValue(depth - 1));
  if (depth > 0 && kind < 0.55) return createObject(depth - 1);
  return pickOne([
    null,
    true,
    0,
    -1,
    1.5,
    1e308,
    '',
    'acme',
    'a\0',
    '\ud800',
    'NodeStatusActive',
    '1.0.0',
    'regen_pat_x',
    'é'.repeat(600),
  ]);
}

const names = [
  'id',
  'name',
  'node',
  'node_version',
  'personal_access_token',
  'version',
  'tags',
  'translations',
  'node_versions',
  'node_id',
  'email',
  'role',
  'expires_at',
  'deprecated',
  'changelog',
  '__proto__',
  'constructor',
  'toString',
  '',
];

function createObject(depth: number): object {
  return Object.fromEntries(Array.from({ length: 4 }, () => [pickOne(names), createValue(depth)]));
}

function createBody(): string | undefined {
  const kind = next();
  if (kind < 0.1) return undefined;
  if (kind < 0.2) return pickOne(['', '{', '[', '"', 'null', '1', '{"a":1}}', '\ufeff{}', '\0']);
  return JSON.stringify(createObject(3));
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

function someRequest(paths: readonly [string, string][]): Request {
  const [method, path] = pickOne(paths);
  const sent = ['GET', 'DELETE'].includes(method) && next() < 0.8 ? undefined : createBody();
  const token = registry().tokens[pickOne<Who>(['ann', 'ann', 'bob', 'eve', 'admin', 'pat', 'guest'])];
  return {
    method: next() < 0.9 ? method : pickOne(['PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'DELETE', 'PUT']),
    path: path.replace(/\{\w+\}/g, () => pickOne(texts)) + pickOne(queries),
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(sent === undefined ? {} : { 'content-type': next() < 0.8 ? 'application/json' : pickOne(types) }),
      ...(next() < 0.1 ? { 'idempotency-key': pickOne(['a', '', 'x'.repeat(300)]) } : {}),
    },
    ...(sent === undefined ? {} : { body: sent }),
  };
}

function sendRaw({
  method,
  path,
  headers,
  body: sent,
}: Request): Promise<{ status: number; type: string; text: string }> {
  const { hostname, port } = new URL(registry().url);
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, method, path, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, type: answer.headers['content-type'] ?? '', text }),
      );
      answer.on('error', reject);
    });
    asked.on('error', reject);
    // Node sends no Content-Length with a DELETE, so its body would be parsed as another request.
    if (sent !== undefined) asked.setHeader('content-length', Buffer.byteLength(sent));
    asked.end(sent);
  });
}

it('answers 3000 random requests with success or its own error body, and never fails', async () => {
  await registry().active('pack', '1.0.0');
  const paths = Array.from(listOperations(contract), ([, { method, path }]): [string, string] => [
    method,
    path,
  ]);
  const statuses = new Map<number, number>();
  for (let count = 0; count < 3000; count += 1) {
    const asked = someRequest(paths);
    const { status, type, text } = await sendRaw(asked);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const received = `${JSON.stringify(asked).slice(0, 600)} → ${status} ${text.slice(0, 200)}`;
    expect(status, received).toBeLessThan(500);
    checkAnswer({ method: asked.method, url: registry().url + asked.path, status, type, text });
    if (status < 400 || asked.method === 'HEAD') continue;
    expect(type, received).toContain('application/json');
    const answered = JSON.parse(text) as { error: keyof typeof errorCodes; message: string };
    expect(errorCodes[answered.error]?.status, received).toBe(status);
    expect(answered.message, received).toMatch(/\S/);
  }
  // Otherwise all requests would have failed at the same check.
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 401, 403, 404, 405, 415]));
});
