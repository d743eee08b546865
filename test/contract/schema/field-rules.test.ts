import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkValue } from '../../../src/contract/schema/check.js';
import {
  excludeEachOther,
  requireAtLeastOne,
  requireJson,
  requireTogether,
} from '../../../src/contract/schema/field-rules.js';
import { toJsonSchema } from '../../../src/contract/schema/json-schema.js';
import { render } from '../../../src/contract/schema/message.js';
import { getRules, withRules } from '../../../src/contract/schema/rule.js';
import { listProblems } from './list-problems.js';

const word = z.string().optional();
const Colours = withRules(
  z.strictObject({ red: word, green: word, count: z.int().max(3).optional() }),
  excludeEachOther('red', 'green'),
).meta({ id: 'ColoursOfThisTest' });

describe('fields that cannot be combined', () => {
  it('pass alone and if all are absent', () => {
    for (const value of [{}, { red: 'a' }, { green: 'a' }]) expect(listProblems(Colours, value)).toEqual([]);
  });

  it('are reported once, also if one is empty', () => {
    expect(listProblems(Colours, { red: 'a', green: 'b' })).toEqual(['green cannot be combined with red']);
    expect(listProblems(Colours, { red: 'a', green: '' })).toHaveLength(1);
  });

  it('are reported together with all other problems', () => {
    expect(listProblems(Colours, { red: 'a', green: 1, count: 4, typo: 1 })).toEqual([
      'count must be at most 3',
      'typo is not a known field',
      'green cannot be combined with red',
    ]);
  });

  it('have the names of the reader', () => {
    const checked = checkValue(Colours, { red: 'a', green: 'b' });
    const [problem] = checked.ok ? [] : checked.problems;
    expect(render(problem?.message ?? '', { field: (field) => `--${field}` })).toBe(
      'cannot be combined with --red',
    );
  });
});

describe('fields that are required together', () => {
  const Pair = withRules(z.object({ left: z.string(), right: z.string() }), requireTogether('left', 'right'));

  it('pass if both are given', () => {
    expect(listProblems(Pair, { left: 'a', right: 'b' })).toEqual([]);
  });

  it('are reported once for each missing field', () => {
    expect(listProblems(Pair, { left: 'a' })).toEqual(['right is required, together with left']);
    expect(listProblems(Pair, {})).toEqual([
      'left is required, together with right',
      'right is required, together with left',
    ]);
  });
});

describe('fields of which one is required', () => {
  const Either = withRules(
    z.object({ text: word, images: z.array(z.string()).optional() }),
    requireAtLeastOne('text', 'images'),
  );

  it.each([{ text: 'a' }, { images: ['a'] }, { text: 'a', images: ['a'] }])(
    'pass if at least one has a value: %j',
    (value) => {
      expect(listProblems(Either, value)).toEqual([]);
    },
  );

  it.each([{}, { text: '' }, { images: [] }, { text: '', images: [] }])(
    'are reported if none has a value: %j',
    (value) => {
      expect(listProblems(Either, value)).toEqual(['text is required, unless images is given']);
    },
  );
});

describe('a field of JSON', () => {
  const Meta = withRules(z.object({ meta: word }), requireJson('meta'));

  it.each(['{}', '{"scene": 4}', '[1]', 'null', '"text"', ' 1 '])(
    'passes if it is valid JSON: %s',
    (meta) => {
      expect(listProblems(Meta, { meta })).toEqual([]);
    },
  );

  it.each(['', '{', "{'scene': 4}", '{"a":1}{', 'scene'])(
    'is reported if it is not valid JSON: %j',
    (meta) => {
      expect(listProblems(Meta, { meta })).toEqual(['meta must be JSON, such as {"scene": 4}']);
    },
  );

  it('passes if it is absent, and leaves other types to the schema', () => {
    expect(listProblems(Meta, {})).toEqual([]);
    expect(listProblems(Meta, { meta: 1 })).toEqual(['meta must be a string']);
  });
});

describe('a schema with rules', () => {
  it('keeps them through a name and a description', () => {
    const named = Colours.meta({ id: 'OtherColoursOfThisTest' }).describe('Colours');
    expect(getRules(named)).toEqual(getRules(Colours));
    expect(getRules(named)).toHaveLength(1);
  });

  it('does not add them to the schema it was made from', () => {
    const plain = z.object({ red: word, green: word });
    withRules(plain, excludeEachOther('red', 'green'));
    expect(getRules(plain)).toEqual([]);
    expect(listProblems(plain, { red: 'a', green: 'b' })).toEqual([]);
  });

  it('becomes JSON Schema with their sentences and keywords', () => {
    const { $defs } = toJsonSchema(Colours, 'input') as { $defs: Record<string, Record<string, unknown>> };
    const { properties: _, ...written } = $defs.ColoursOfThisTest as Record<string, unknown>;
    expect(written).toEqual({
      type: 'object',
      additionalProperties: false,
      description: 'red and green cannot be combined.',
      allOf: [{ not: { required: ['red', 'green'], properties: { red: {}, green: {} } } }],
    });
    expect(toJsonSchema(Colours, 'output')).not.toHaveProperty('$defs.ColoursOfThisTest.allOf');
  });

  it('ignores values that are not objects', () => {
    for (const value of [null, 'red', ['red'], 7, undefined]) {
      expect(listProblems(Colours, value)).toEqual([
        ` ${value === undefined ? 'is required' : 'must be an object'}`,
      ]);
    }
  });

  it('returns the value with its defaults if it is valid', () => {
    const Grain = withRules(
      z.object({ grain: z.int().default(2), fine: word, coarse: word }),
      excludeEachOther('fine', 'coarse'),
    );
    expect(checkValue(Grain, { fine: 'a' })).toEqual({ ok: true, value: { grain: 2, fine: 'a' } });
  });
});
