import { expect, it } from 'vitest';
import { contract } from '../../../src/contract/index.js';
import { listOperations } from '../../../src/contract/operation.js';
import { checkValue } from '../../../src/contract/schema/check.js';

it('a missing field is required, also by schemas with a sentence about wrong values', () => {
  const found = [...listOperations(contract)].flatMap(([name, { params, query, body }]) =>
    [params, query, body].flatMap((schema) => {
      const checked = schema && checkValue(schema, {});
      return checked && !checked.ok ? checked.problems.map((problem) => ({ name, ...problem })) : [];
    }),
  );
  expect(found.length).toBeGreaterThan(50);
  expect(found.filter(({ message }) => !/^is required\b/.test(String(message)))).toEqual([]);
});
