import { describe, expect, it } from 'vitest';
import { checkAnswer, type GivenAnswer } from './check-answer.js';

function createAnswer(method: string, path: string, status: number, body?: unknown): GivenAnswer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const type = body === undefined ? null : 'application/json; charset=utf-8';
  return { method, url: `http://127.0.0.1:7717${path}`, status, type, text };
}

const item = { identifier: { node_id: 'a', version: '1.0.0' }, status: 'success' };
const task = { generated: [], status: 'CREATED', task_id: 't' };

describe('the check of answers', () => {
  it.each([
    createAnswer('GET', '/nodes/pack', 200, { id: 'pack', name: 'Pack', created_at: '2026-01-31T12:00:00Z' }),
    createAnswer('GET', '/nodes/pack', 200, { id: 'pack', field_of_tomorrow: 1 }),
    createAnswer('POST', '/bulk/nodes/versions', 200, { node_versions: [item] }),
    createAnswer('DELETE', '/publishers/acme/nodes/pack', 204),
    createAnswer('GET', '/proxy/imagevendor/v1/ai/image-relight/t', 200, { data: task }),
    createAnswer('GET', '/proxy/imagevendor/v1/ai/image-style-transfer/t', 200, task),
    createAnswer('GET', '/nodes/missing', 404, { error: 'not_found', message: 'There is no such node.' }),
    createAnswer('GET', '/nodes/PACK', 302),
    createAnswer('HEAD', '/nodes/missing', 404),
    createAnswer('GET', '/openapi.json', 200, { openapi: '3.1.0' }),
    createAnswer('GET', '/health', 200, { status: 'ok' }),
    createAnswer('PUT', '/files/acme/pack/1.0.0/node.zip?signature=x', 200),
    { ...createAnswer('GET', '/files/acme/pack/1.0.0/node.zip', 206), type: 'application/zip', text: 'PK' },
  ])('lets pass $method $url with $status', (answer) => {
    expect(() => checkAnswer(answer)).not.toThrow();
  });

  it.each<[string, GivenAnswer, string]>([
    [
      'a field of another type',
      createAnswer('GET', '/nodes/pack', 200, { downloads: '3' }),
      '/downloads must be integer',
    ],
    [
      'a field of another type deep inside',
      createAnswer('GET', '/publishers/acme/nodes/v2', 200, {
        ...{ limit: 10, page: 1, total: 1, totalPages: 1 },
        nodes: [{ latest_version: { deprecated: 'no' } }],
      }),
      '/nodes/0/latest_version/deprecated must be boolean',
    ],
    [
      'a required field that is missing',
      createAnswer('POST', '/bulk/nodes/versions', 200, { node_versions: [{ status: 'success' }] }),
      "must have required property 'identifier'",
    ],
    [
      'null for an absent field',
      createAnswer('GET', '/nodes/pack', 200, { author: null }),
      '/author must be string',
    ],
    [
      'an enum value of its own',
      createAnswer('GET', '/nodes/pack', 200, { status: 'Active' }),
      'must be equal to one of the allowed values',
    ],
    [
      'a time of no format',
      createAnswer('GET', '/publishers/acme', 200, { createdAt: 'today' }),
      'must match format "date-time"',
    ],
    [
      'a task without its wrapper',
      createAnswer('POST', '/proxy/imagevendor/v1/ai/image-relight', 200, task),
      "must have required property 'data'",
    ],
    [
      'a number beyond 32 bits',
      createAnswer('POST', '/proxy/videovendor/text2video', 200, {
        ...{ credits: 2 ** 31, state: 'created', task_id: 't' },
      }),
      '/credits must be',
    ],
    ['another status than declared', createAnswer('POST', '/publishers', 200, {}), 'succeeds with 201'],
    [
      'a body where none is declared',
      createAnswer('DELETE', '/publishers/acme/nodes/pack', 204, {}),
      'without a body',
    ],
    ['no body where one is declared', createAnswer('GET', '/users/me', 200), 'not application/json'],
    [
      'a page of HTML',
      { ...createAnswer('GET', '/users/me', 502), type: 'text/html', text: '<h1>Bad gateway</h1>' },
      'not application/json',
    ],
    [
      'half a body',
      { ...createAnswer('GET', '/users/me', 200), type: 'application/json', text: '{"id":' },
      'the body must be object',
    ],
    [
      'a refusal of another form',
      createAnswer('GET', '/nodes/x', 404, { statusCode: 404 }),
      "property 'error'",
    ],
    [
      'a refusal of another form beside the operations',
      createAnswer('GET', '/files/x', 404, { message: 'Not found' }),
      "property 'error'",
    ],
    [
      'a code that the contract does not know',
      createAnswer('GET', '/nodes/x', 404, { error: 'gone_fishing', message: 'No.' }),
      'gone_fishing is not a code',
    ],
    [
      'a code under a status of another',
      createAnswer('GET', '/nodes/x', 400, { error: 'not_found', message: 'No.' }),
      'belongs to the status 404',
    ],
    ['a HEAD with a body', createAnswer('HEAD', '/nodes/x', 404, {}), 'without a body'],
  ])('fails at %s', (_, answer, received) => {
    expect(() => checkAnswer(answer)).toThrow(received);
  });
});
