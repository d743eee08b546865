import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { contract } from '../../src/contract/index.js';
import { loadNaming } from '../../src/contract/naming/load-naming.js';
import type { Naming } from '../../src/contract/naming/naming.js';
import { renameDocument } from '../../src/contract/naming/rename-document.js';
import { createOpenApiDocument } from '../../src/contract/openapi.js';
import { listOperations, operation } from '../../src/contract/operation.js';
import { checkValue } from '../../src/contract/schema/check.js';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked as the plain JSON it is
type Json = any;

const document: Json = createOpenApiDocument(contract, {
  version: '1.2.3',
  serverUrl: 'http://127.0.0.1:7717',
});

function findOperation(name: string): Json {
  for (const methods of Object.values<Json>(document.paths)) {
    for (const found of Object.values<Json>(methods)) if (found.operationId === name) return found;
  }
  throw new Error(`${name} is not in the document`);
}

/** Paths with more parameters than their operation, a second path of an operation, and a wrapped answer. */
const madeUp = {
  paths: {
    segments: { 'host-nodes': 'parts', nodes: 'packs' },
    rewrites: [
      { regen: 'GET /nodes/{nodeId}', real: 'GET /teams/{team}/{nodeId}' },
      { regen: 'GET /nodes/{nodeId}', real: 'POST /teams/{team}/{nodeId}/{part}' },
      { regen: 'GET /nodes/{nodeId}', real: 'GET /find/{nodeId}/' },
    ],
  },
  operations: { 'user.me': { admin: 'boss', id: 'name_of_account' } },
  behaviors: { wrappedAnswers: { 'node.get': 'data' }, assumedFields: { 'node.get': { id: true } } },
};

describe.each(['regen', 'comfy', 'a file'])('the OpenAPI document in the naming of %s', (name) => {
  const load = async (): Promise<Json> => {
    const own = structuredClone(document);
    const naming = await loadNaming(name, () => JSON.stringify(madeUp));
    return naming ? renameDocument(naming, own) : own;
  };

  it('is valid for an independent validator', async () => {
    const validator = new Validator();
    const result = await validator.validate(await load());
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  it('is plain JSON whose references all resolve', async () => {
    const written = await load();
    expect(JSON.parse(JSON.stringify(written))).toEqual(written);
    const references = JSON.stringify(written).matchAll(/"\$ref":"#\/([^"]+)"/g);
    let count = 0;
    for (const [, path] of references) {
      count++;
      const target = (path as string).split('/').reduce((place: Json, key) => place?.[key], written);
      expect(target, path).toBeDefined();
    }
    expect(count).toBeGreaterThan(10);
  });

  it('has one operation for each id, one path for each place, and exactly the parameters of each path', async () => {
    const { paths } = await load();
    const ids = new Set<string>();
    const places = new Set<string>();
    for (const [path, methods] of Object.entries<Json>(paths)) {
      const place = path.replace(/\{\w+\}/g, '{}').replace(/\/$/, '');
      expect([path, places.has(place)]).toEqual([path, false]);
      places.add(place);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      for (const { operationId, parameters = [] } of Object.values<Json>(methods)) {
        expect([operationId, ids.has(operationId)]).toEqual([operationId, false]);
        ids.add(operationId);
        const declared = parameters.filter((one: Json) => one.in === 'path' && one.required);
        const names = declared.map((one: Json) => one.name);
        expect([path, names.sort()]).toEqual([path, inPath.toSorted()]);
        const all = parameters.map((one: Json) => `${one.in} ${one.name}`);
        expect(new Set(all).size, operationId).toBe(all.length);
      }
    }
  });

  it('requires no field that a schema does not have', async () => {
    const visit = (value: Json): void => {
      if (typeof value !== 'object' || value === null) return;
      if (Array.isArray(value.required) && value.properties)
        expect(Object.keys(value.properties)).toEqual(expect.arrayContaining(value.required));
      Object.values(value).forEach(visit);
    };
    visit(await load());
  });
});

it('describes the fields that have another name in one operation as this operation answers them', async () => {
  const naming = await loadNaming('comfy', () => '');
  const { paths } = renameDocument(naming as Naming, structuredClone(document)) as Json;
  const schema = (path: string) => paths[path].get.responses['200'].content['application/json'].schema;
  expect(Object.keys(schema('/users').properties)).toContain('isAdmin');
  expect(schema('/users').required).toContain('isAdmin');
  expect(schema('/publishers/{publisherId}/tokens').items.properties).toHaveProperty('createdAt');
});

describe('the OpenAPI document', () => {
  it('contains every operation of the contract under its dotted name, and no other', () => {
    const named = Object.values<Json>(document.paths).flatMap((methods) =>
      Object.values<Json>(methods).map((found) => found.operationId),
    );
    expect(named.sort()).toEqual([...listOperations(contract)].map(([name]) => name).sort());
  });

  it('states its version and the address of the service', () => {
    expect(document.info.version).toBe('1.2.3');
    expect(document.servers).toEqual([{ url: 'http://127.0.0.1:7717' }]);
    expect(createOpenApiDocument(contract, { version: '1' })).not.toHaveProperty('servers');
  });

  it('marks operations that the service description does not list', () => {
    expect(findOperation('publisher.create')['x-extension']).toBe(true);
    expect(findOperation('publisher.update')).not.toHaveProperty('x-extension');
  });

  it('requires a credential, or marks it as optional', () => {
    expect(findOperation('publisher.update').security).toEqual([{ bearer: [] }]);
    expect(findOperation('node.get').security).toEqual([{}, { bearer: [] }]);
  });

  it('accepts an Idempotency-Key for POSTs whose response is not a secret', () => {
    const key = expect.objectContaining({ name: 'Idempotency-Key', in: 'header' });
    expect(findOperation('version.publish').parameters).toContainEqual(key);
    expect(findOperation('publisher.token.create').parameters).not.toContainEqual(key);
    expect(findOperation('publisher.update').parameters).not.toContainEqual(key);
  });

  it('lists path and query parameters with their limits and defaults', () => {
    expect(findOperation('node.list').parameters).toEqual([
      expect.objectContaining({ name: 'publisherId', in: 'path', required: true }),
      {
        name: 'page',
        in: 'query',
        description: 'Page number, starting at 1',
        schema: { type: 'integer', minimum: 1, default: 1 },
      },
      expect.objectContaining({
        name: 'limit',
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
      }),
    ]);
  });

  it('answers with the declared status, and with the Error body otherwise', () => {
    const statuses = ['201', '400', '401', '403', '409', '413', '415', '429', '500', '503', 'default'];
    expect(Object.keys(findOperation('publisher.create').responses)).toEqual(statuses);
    expect(Object.keys(findOperation('node.get').responses)).toContain('404');
    expect(findOperation('node.get').responses['404']).toEqual({ $ref: '#/components/responses/Error404' });
    expect(document.components.responses.Error404.description).toBe(
      '- `not_found`: It does not exist, or this caller may not see it.',
    );
    expect(findOperation('node.delete').responses['204']).toEqual({ description: 'Done' });
    expect(findOperation('node.get').responses.default).toEqual({ $ref: '#/components/responses/Error' });
    expect(document.components.responses.Error.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/Error',
    });
  });

  it('describes what caches may keep, and the 304, for reads without a credential', () => {
    for (const [name, { method, who }] of listOperations(contract)) {
      const cacheable = method === 'GET' && who === 'anyone' && name !== 'node.install';
      const { parameters = [], responses } = findOperation(name);
      const condition = parameters.filter((one: Json) => one.name === 'If-None-Match');
      expect([name, condition.length, '304' in responses]).toEqual([name, cacheable ? 1 : 0, cacheable]);
    }
    expect(Object.keys(findOperation('node.get').responses['200'].headers)).toEqual([
      'ETag',
      'Cache-Control',
    ]);
  });

  it('shows requests that the contract accepts', () => {
    const shown: string[] = [];
    for (const [name, { body }] of listOperations(contract)) {
      for (const example of (body?.meta()?.examples ?? []) as unknown[]) {
        expect([name, body && checkValue(body, example)]).toEqual([
          name,
          expect.objectContaining({ ok: true }),
        ]);
        shown.push(name);
      }
    }
    expect(shown).toEqual(expect.arrayContaining(['version.publish', 'image.relight', 'video.extend']));
  });

  it('writes requests with defaults in place, which generators of clients then leave optional', () => {
    const { title, properties } =
      findOperation('image.relight').requestBody.content['application/json'].schema;
    expect(title).toBe('RelightRequest');
    expect(properties.style.default).toBe('standard');
    expect(properties.advanced_settings.properties.blacks.default).toBe(50);
    const named = Object.values<Json>(document.components.schemas);
    const withDefault = named.filter((one) =>
      Object.values<Json>(one.properties ?? {}).some((field) => 'default' in field),
    );
    expect(withDefault).toEqual([]);
  });

  it('refuses unknown fields in requests where the service does, and nowhere in answers', () => {
    expect(document.components.schemas.VersionUpdate.additionalProperties).toBe(false);
    expect(document.components.schemas.Node).not.toHaveProperty('additionalProperties');
    expect(JSON.stringify(findOperation('node.list').responses)).not.toContain('additionalProperties');
  });

  it('gives a schema two names if it differs in requests and responses', async () => {
    const Grain = z.strictObject({ amount: z.int() }).meta({ id: 'GrainOfThisTest' });
    const Outer = z.object({ grain: Grain }).meta({ id: 'OuterOfThisTest' });
    const set = operation('PUT /grain', {
      summary: 'Set the grain',
      who: 'anyone',
      body: Outer,
      response: Outer,
    });
    const written: Json = createOpenApiDocument({ grain: { set } }, { version: '1' });
    const { schemas } = written.components;
    expect(schemas.GrainOfThisTest).toMatchObject({ additionalProperties: false });
    expect(schemas.GrainOfThisTestAnswer).not.toHaveProperty('additionalProperties');
    expect(schemas.OuterOfThisTest.properties.grain.$ref).toBe('#/components/schemas/GrainOfThisTest');
    expect(schemas.OuterOfThisTestAnswer.properties.grain.$ref).toBe(
      '#/components/schemas/GrainOfThisTestAnswer',
    );
    expect((await new Validator().validate(written)).valid).toBe(true);
  });
});
