import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonSchema } from '../../../src/contract/json-schema.js';
import { check } from '../../../src/contract/problems.js';
import { atLeastOne, exclusive, jsonText, requiredTogether } from '../../../src/contract/rules/fields.js';
import { rulesOf, withRules } from '../../../src/contract/rules/rule.js';
import { asked } from './asked.js';

const word = z.string().optional();
const Colours = withRules(
  z.strictObject({ red: word, green: word, blue: word, count: z.int().max(3).optional() }),
  exclusive('red', 'green', 'blue'),
).meta({ id: 'ColoursOfThisTest' });

describe('fields that exclude each other', () => {
  it('pass alone and without any', () => {
    for (const value of [{}, { red: 'a' }, { blue: 'a' }]) expect(asked(Colours, value)).toEqual([]);
  });

  it('are told for each that is too much', () => {
    expect(asked(Colours, { red: 'a', blue: 'b' })).toEqual([
      'blue and red exclude each other; give one of them',
    ]);
    expect(asked(Colours, { red: 'a', green: '', blue: 'b' })).toHaveLength(2);
  });

  it('are told beside everything else that is wrong', () => {
    expect(asked(Colours, { red: 'a', green: 1, count: 4, typo: 1 })).toEqual([
      'count must be at most 3',
      'typo is not a field known here',
      'green and red exclude each other; give one of them',
    ]);
  });

  it('are called as the one who asks calls them', () => {
    const name = (field: string) => `--${field}`;
    expect(asked(Colours, { red: 'a', blue: 'b' }, { name })).toEqual([
      'blue and --red exclude each other; give one of them',
    ]);
  });
});

describe('fields that are required together', () => {
  const Pair = withRules(
    z.object({ left: z.string(), right: z.string() }),
    requiredTogether('left', 'right'),
  );

  it('pass with both', () => {
    expect(asked(Pair, { left: 'a', right: 'b' })).toEqual([]);
  });

  it('are told once for each that is missing', () => {
    expect(asked(Pair, { left: 'a' })).toEqual(['right is required, together with left']);
    expect(asked(Pair, {})).toEqual([
      'left is required, together with right',
      'right is required, together with left',
    ]);
  });
});

describe('fields of which one is needed', () => {
  const Either = withRules(
    z.object({ text: word, images: z.array(z.string()).optional() }),
    atLeastOne('text', 'images'),
  );

  it.each([{ text: 'a' }, { images: ['a'] }, { text: 'a', images: ['a'] }])('pass with %j', (value) => {
    expect(asked(Either, value)).toEqual([]);
  });

  it.each([{}, { text: '' }, { images: [] }, { text: '', images: [] }])('are told with %j', (value) => {
    expect(asked(Either, value)).toEqual(['text is required, unless images is given']);
  });
});

describe('a field of JSON', () => {
  const Meta = withRules(z.object({ meta: word }), jsonText('meta'));

  it.each(['{}', '{"scene": 4}', '[1]', 'null', '"text"', ' 1 '])('passes with %s', (meta) => {
    expect(asked(Meta, { meta })).toEqual([]);
  });

  it.each(['', '{', "{'scene': 4}", '{"a":1}{', 'scene'])('is told with %j', (meta) => {
    expect(asked(Meta, { meta })).toEqual(['meta must be JSON, such as {"scene": 4}']);
  });

  it('passes where it is absent, and leaves other types to the schema', () => {
    expect(asked(Meta, {})).toEqual([]);
    expect(asked(Meta, { meta: 1 })).toEqual(['meta must be a string']);
  });
});

describe('a schema with rules', () => {
  it('keeps them through a name and a description', () => {
    const named = Colours.meta({ id: 'OtherColoursOfThisTest' }).describe('Colours');
    expect(rulesOf(named)).toEqual(rulesOf(Colours));
    expect(rulesOf(named)).toHaveLength(1);
  });

  it('does not give them to the schema it was made of', () => {
    const plain = z.object({ red: word, green: word });
    withRules(plain, exclusive('red', 'green'));
    expect(rulesOf(plain)).toEqual([]);
    expect(asked(plain, { red: 'a', green: 'b' })).toEqual([]);
  });

  it('is written with their sentences and keywords, without any key of its own', () => {
    const { $defs } = jsonSchema(Colours, 'input') as { $defs: Record<string, Record<string, unknown>> };
    const { properties: _, ...written } = $defs.ColoursOfThisTest as Record<string, unknown>;
    expect(written).toEqual({
      type: 'object',
      additionalProperties: false,
      description: 'red, green and blue exclude each other.',
      allOf: [
        {
          not: {
            anyOf: [
              { required: ['red', 'green'] },
              { required: ['red', 'blue'] },
              { required: ['green', 'blue'] },
            ],
          },
        },
      ],
    });
    expect(jsonSchema(Colours, 'output')).not.toHaveProperty('$defs.ColoursOfThisTest.allOf');
  });

  it('asks nothing of what is no object', () => {
    for (const value of [null, 'red', ['red'], 7, undefined]) {
      expect(asked(Colours, value)).toEqual([
        ` ${value === undefined ? 'is required' : 'must be an object'}`,
      ]);
    }
  });

  it('gives the value with its defaults where all is well', () => {
    const Grain = withRules(
      z.object({ grain: z.int().default(2), fine: word, coarse: word }),
      exclusive('fine', 'coarse'),
    );
    expect(check(Grain, { fine: 'a' })).toEqual({ ok: true, value: { grain: 2, fine: 'a' } });
  });
});
