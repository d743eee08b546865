import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { contract } from '../../../src/contract/index.js';
import { checkValue } from '../../../src/contract/schema/check.js';
import { describeFields } from '../../../src/contract/schema/fields.js';
import { parseText, parseTexts } from '../../../src/contract/schema/parse-text.js';

const Jobs = z.object({
  count: z.int().min(1).max(16).default(5).meta({ description: 'How many' }),
  weight: z.number().optional(),
  loud: z.boolean().optional(),
  flavor: z.enum(['sweet', 'sour']).optional(),
  seconds: z.literal([4, 8]).optional(),
  tags: z.array(z.string()).max(3).optional(),
  sizes: z.array(z.int()).optional(),
  secret: z.string().meta({ writeOnly: true }),
  settings: z.object({ contrast: z.int().min(0).max(100).default(50) }).optional(),
  anything: z.union([z.int(), z.string()]).optional(),
});
const jobs = describeFields(Jobs);
const getLeaf = (name: string) => jobs[name] as NonNullable<(typeof jobs)[string]>;

describe('the fields of a schema', () => {
  it('contain what help and completion show', () => {
    expect(jobs.count).toEqual({
      type: 'integer',
      required: false,
      description: 'How many',
      minimum: 1,
      maximum: 16,
      default: 5,
    });
    expect(jobs.flavor).toEqual({ type: 'string', required: false, enum: ['sweet', 'sour'] });
    expect(jobs.secret).toEqual({ type: 'string', required: true, writeOnly: true });
    expect(jobs.tags).toEqual({
      type: 'array',
      required: false,
      maxItems: 3,
      items: { type: 'string', required: true },
    });
    expect(jobs.settings?.fields?.contrast).toMatchObject({ type: 'integer', minimum: 0, default: 50 });
  });

  it('keep the order of their declaration', () => {
    expect(Object.keys(jobs)).toEqual(Object.keys(Jobs.shape));
  });

  it('mark read-only fields, also if they refer to a named schema', () => {
    const node = describeFields(contract.node.create.body as z.ZodObject);
    expect(node.id).toMatchObject({ required: true, maxLength: 100 });
    expect(node.downloads).toMatchObject({ type: 'integer', readOnly: true });
    expect(node.downloads).not.toHaveProperty('maximum');
    expect(node.latest_version).toMatchObject({ type: 'object', readOnly: true });
    expect(node.latest_version?.fields?.changelog).toMatchObject({ type: 'string' });
  });

  it('end if a schema contains itself', () => {
    const Folder = z
      .object({
        name: z.string(),
        get inside() {
          return z.array(Folder).optional();
        },
      })
      .meta({ id: 'FolderOfThisTest' });
    expect(describeFields(z.object({ folder: Folder })).folder?.fields?.inside?.items).toEqual({
      type: 'object',
      required: true,
    });
  });
});

describe('a text', () => {
  it.each([
    ['12', 12],
    ['-3', -3],
    ['007', 7],
    ['-0', 0],
  ])('%j is the whole number %j', (text, value) => {
    expect(parseText(getLeaf('count'), text)).toBe(value);
  });

  it.each(['abc', '1e3', '0x10', ' 5', '5 ', '', '1.0', '+1', '1_000', '٣', '9'.repeat(400)])(
    '%j is not a whole number and remains text that the schema refuses',
    (text) => {
      const value = parseText(getLeaf('count'), text);
      expect(value).toBe(text);
      const checked = checkValue(Jobs, { count: value, secret: 'x' });
      expect(checked).toEqual({
        ok: false,
        problems: [{ path: ['count'], message: 'must be a whole number', isOfValue: true }],
      });
    },
  );

  it.each([
    ['0.5', 0.5],
    ['.5', 0.5],
    ['-2', -2],
    ['1e3', 1000],
  ])('%j is the number %j', (text, value) => {
    expect(parseText(getLeaf('weight'), text)).toBe(value);
  });

  it.each(['Infinity', 'NaN', '0x10', '1.', '', '1,5'])('%j is not a number', (text) => {
    expect(parseText(getLeaf('weight'), text)).toBe(text);
  });

  it('is a boolean only if it is true or false', () => {
    expect(parseText(getLeaf('loud'), 'true')).toBe(true);
    expect(parseText(getLeaf('loud'), 'false')).toBe(false);
    for (const text of ['1', 'yes', 'TRUE', '']) expect(parseText(getLeaf('loud'), text)).toBe(text);
  });

  it('remains text if the field is a string, even if it looks like a number', () => {
    expect(parseText(getLeaf('secret'), '12')).toBe('12');
    expect(parseText(getLeaf('flavor'), 'true')).toBe('true');
  });

  it('becomes a number if the choices are numbers, or a union allows one', () => {
    expect(parseText(getLeaf('seconds'), '4')).toBe(4);
    expect(parseText(getLeaf('anything'), '4')).toBe(4);
    expect(parseText(getLeaf('anything'), 'four')).toBe('four');
  });
});

describe('several texts with one name', () => {
  it('are the items of a list, as is a single text', () => {
    expect(parseTexts(getLeaf('sizes'), ['1', '2'])).toEqual([1, 2]);
    expect(parseTexts(getLeaf('tags'), ['1'])).toEqual(['1']);
  });

  it('are refused by a schema of a single value', () => {
    expect(parseTexts(getLeaf('count'), ['3'])).toBe(3);
    const twice = parseTexts(getLeaf('count'), ['1', '2']);
    expect(checkValue(Jobs, { count: twice, secret: 'x' })).toMatchObject({
      ok: false,
      problems: [{ path: ['count'], message: 'must be a whole number' }],
    });
  });
});
