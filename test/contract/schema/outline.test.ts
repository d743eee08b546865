import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  getOutline,
  isValidRequest,
  isValidResponse,
  listQueryNames,
  outlines,
} from '../../../src/client/outlines.js';
import { contract } from '../../../src/contract/index.js';
import { listOperations, type Operation } from '../../../src/contract/operation.js';
import { checkValue } from '../../../src/contract/schema/check.js';
import { toJsonSchema } from '../../../src/contract/schema/json-schema.js';
import { fitsOutline, type Outline } from '../../../src/contract/schema/outline.js';
import manifestOutlines from '../../../src/pack/manifest.generated.json' with { type: 'json' };
import { MANIFEST_SCHEMAS } from '../../../src/pack/manifest-schemas.js';
import { createValues, mutateJson } from '../../fuzz/schema-values.js';

const operations = [...listOperations(contract)];
const RUNS = { numRuns: 40 };

/** Well-formed values of a schema, and values that are a little or entirely different. */
function anyValues(
  schema: NonNullable<Operation['response']>,
  io: 'input' | 'output',
): fc.Arbitrary<unknown> {
  const values = createValues(toJsonSchema(schema, io));
  return fc.oneof(values, mutateJson(values), fc.jsonValue());
}

test('there is an outline of every operation', () => {
  expect([...outlines.keys()]).toEqual(operations.map(([name]) => name));
  for (const [name, { query }] of operations) {
    expect(listQueryNames(getOutline(name))).toEqual(Object.keys(query?.shape ?? {}));
  }
});

describe.each(operations)('a request of %s', (name, { path, params, query, body }) => {
  const outline = getOutline(name);
  const names = Object.keys(params.shape);
  const someParams = Object.fromEntries(names.map((one) => [one, 'x']));

  test('is accepted by the contract where its outline accepts it', () => {
    const parts = fc.record({
      params: fc.oneof(fc.constant(someParams), fc.dictionary(fc.constantFrom(...names, 'y'), fc.string())),
      query: query ? anyValues(query, 'input') : fc.constant({}),
      body: body ? anyValues(body, 'input') : fc.constant(undefined),
    });
    fc.assert(
      fc.property(parts, (request) => {
        const isObject = typeof request.query === 'object' && request.query !== null;
        if (!isObject || !isValidRequest(outline, request as never)) return;
        expect(checkValue(params, request.params).ok).toBe(true);
        if (query) expect(checkValue(query, request.query).ok).toBe(true);
        if (body) expect(checkValue(body, request.body).ok).toBe(true);
      }),
      RUNS,
    );
    expect(path).toBe(outline.path);
  });
});

const queries = operations.flatMap(([name, { params, query, body }]) => {
  return query && !body ? [[name, params, query] as const] : [];
});

test.each(queries)(
  'a query of %s is accepted by its outline where the contract accepts it',
  (name, params, query) => {
    const someParams = Object.fromEntries(Object.keys(params.shape).map((one) => [one, 'x']));
    fc.assert(
      fc.property(createValues(toJsonSchema(query, 'input')), (value) => {
        if (!checkValue(query, value).ok) return;
        const request = {
          params: someParams,
          query: value as object as Record<string, unknown>,
          body: undefined,
        };
        expect(isValidRequest(getOutline(name), request)).toBe(true);
      }),
      RUNS,
    );
  },
);

const responses = operations.flatMap(([name, { response }]) => (response ? [[name, response] as const] : []));

test.each(responses)(
  'a response of %s is accepted by the contract where its outline accepts it',
  (name, schema) => {
    const outline = getOutline(name);
    fc.assert(
      fc.property(anyValues(schema, 'output'), (data) => {
        if (isValidResponse(outline, data)) expect(schema.safeParse(data).success).toBe(true);
      }),
      RUNS,
    );
  },
);

test.each(Object.entries(MANIFEST_SCHEMAS))(
  'the %s of a manifest is accepted as it is where its outline accepts it',
  (name, schema) => {
    const outline = manifestOutlines[name as keyof typeof manifestOutlines] as Outline;
    let accepted = 0;
    fc.assert(
      fc.property(anyValues(schema, 'input'), (value) => {
        if (!fitsOutline(outline, value, [])) return;
        accepted += 1;
        expect(checkValue(schema, value)).toMatchObject({ ok: true });
      }),
      { numRuns: 200 },
    );
    expect(accepted).toBeGreaterThan(0);
  },
);
