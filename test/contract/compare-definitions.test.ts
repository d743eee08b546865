import { describe, expect, test } from 'vitest';
import { compareDefinitions } from '../../src/contract/compare-definitions.js';

const createDefinition = (name: string, inputs: object, outputs: string[], more = {}) => ({
  host_node_name: name,
  input_types: JSON.stringify(inputs),
  return_types: JSON.stringify(outputs),
  category: 'x',
  ...more,
});

test('unchanged definitions are not reported', () => {
  const same = [createDefinition('A', { required: { a: ['INT', {}] } }, ['IMAGE'])];
  expect(compareDefinitions(same, same)).toEqual([]);
});

test.each([
  ['a removed input', { required: {} }, ['IMAGE'], 'input removed', true],
  [
    'another type',
    { required: { a: ['FLOAT'], c: [['x', 'y']], o: ['MASK'] } },
    ['IMAGE'],
    'input type',
    true,
  ],
  [
    'a choice that is gone',
    { required: { a: ['INT'], c: [['x']], o: ['MASK'] } },
    ['IMAGE'],
    'choices removed',
    true,
  ],
  [
    'a choice more',
    { required: { a: ['INT'], c: [['x', 'z', 'y']], o: ['MASK'] } },
    ['IMAGE'],
    'choices added',
    false,
  ],
  [
    'a new required connection',
    { required: { a: ['INT'], c: [['x', 'y']], o: ['MASK'], n: ['MODEL'] } },
    ['IMAGE'],
    'input added',
    true,
  ],
  [
    'a new required value',
    { required: { a: ['INT'], c: [['x', 'y']], o: ['MASK'], n: ['INT', { default: 1 }] } },
    ['IMAGE'],
    'input added',
    true,
  ],
  [
    'a new optional connection',
    { required: { a: ['INT'], c: [['x', 'y']], o: ['MASK'] }, optional: { n: ['MODEL'] } },
    ['IMAGE'],
    'input added',
    false,
  ],
  [
    'an output more at the end',
    { required: { a: ['INT'], c: [['x', 'y']], o: ['MASK'] } },
    ['IMAGE', 'MASK'],
    'outputs',
    false,
  ],
  [
    'an output more in front',
    { required: { a: ['INT'], c: [['x', 'y']], o: ['MASK'] } },
    ['MASK', 'IMAGE'],
    'outputs',
    true,
  ],
])('%s is found, with whether it breaks workflows', (_, inputs, outputs, change, breaks) => {
  const before = [
    createDefinition('A', { required: { a: ['INT'], c: [['x', 'y']], o: ['MASK'] } }, ['IMAGE']),
  ];
  const changes = compareDefinitions(before, [createDefinition('A', inputs, outputs)]);
  expect(changes).toContainEqual(expect.objectContaining({ host_node_name: 'A', change, breaks }));
});

test.each([
  ['BBOX', 'BBOX,BOUNDING_BOX', false],
  ['IMAGE,MASK', 'IMAGE', true],
  ['IMAGE', '*', false],
])('an input of %s that becomes %s: breaks workflows is %s', (was, is, breaks) => {
  const before = [createDefinition('A', { required: { i: [was] } }, [])];
  const after = [createDefinition('A', { required: { i: [is] } }, [])];
  expect(compareDefinitions(before, after)).toEqual([
    { host_node_name: 'A', change: 'input type', detail: `i: ${was} -> ${is}`, breaks },
  ]);
});

test('a type that is known only at run time is not compared', () => {
  const before = [createDefinition('A', { required: { i: [{ $computed: 'x()' }] } }, [])];
  expect(compareDefinitions(before, [createDefinition('A', { required: { i: [['a']] } }, [])])).toEqual([]);
});

test('an input that becomes required breaks workflows, even if it has a default', () => {
  const before = [createDefinition('A', { optional: { m: ['MODEL'], n: ['INT'] } }, [])];
  const after = [createDefinition('A', { required: { m: ['MODEL'], n: ['INT'] } }, [])];
  expect(compareDefinitions(before, after).map(({ detail, breaks }) => [detail, breaks])).toEqual([
    ['m: MODEL', true],
    ['n: INT', true],
  ]);
});

test.each([
  [
    { min: 0, max: 10 },
    { min: 0, max: 5 },
    [{ change: 'range narrowed', detail: 'a: 0 to 10 -> 0 to 5', breaks: true }],
  ],
  [{}, { min: 1 }, [{ change: 'range narrowed', detail: 'a: any to any -> 1 to any', breaks: true }]],
  [
    { min: 1, max: 5 },
    { max: 9 },
    [{ change: 'range widened', detail: 'a: 1 to 5 -> any to 9', breaks: false }],
  ],
  [{ default: 1 }, { default: 2 }, [{ change: 'default', detail: 'a: 1 -> 2', breaks: false }]],
  [{}, { default: 'x' }, [{ change: 'default', detail: 'a: none -> "x"', breaks: false }]],
  [{ default: { $computed: 'x()' } }, { default: 2 }, []],
])('a change of a number from %j to %j is reported if the value differs', (was, is, expected) => {
  const before = [createDefinition('A', { required: { a: ['INT', was] } }, [])];
  const after = [createDefinition('A', { required: { a: ['INT', is] } }, [])];
  const changes = compareDefinitions(before, after);
  expect(changes).toEqual(expected.map((change) => ({ host_node_name: 'A', ...change })));
});

test('an input that becomes optional is reported and breaks nothing', () => {
  const before = [createDefinition('A', { required: { m: ['MODEL'] } }, [])];
  const after = [createDefinition('A', { optional: { m: ['MODEL'] } }, [])];
  expect(compareDefinitions(before, after)).toEqual([
    { host_node_name: 'A', change: 'input optional', detail: 'm: MODEL', breaks: false },
  ]);
});

test('inputs that are computed at run time on one side are not compared', () => {
  const before = [{ host_node_name: 'A', return_types: '[]' }];
  expect(compareDefinitions(before, [createDefinition('A', {}, [], { category: undefined })])).toEqual([]);
});

test('a changed order of widgets breaks workflows, a widget at the end does not', () => {
  const define = (inputs: object) => [
    { host_node_name: 'Blur', input_types: JSON.stringify({ required: inputs }) },
  ];
  const image = { image: ['IMAGE'] };
  const [size, mode, extra] = [['INT', {}], [['a', 'b']], ['FLOAT', {}]];
  const compare = (now: object) =>
    compareDefinitions(define({ ...image, size, mode }), define(now)).filter(
      ({ change }) => change === 'input order',
    );
  expect(compare({ mode, size, ...image })).toMatchObject([
    { detail: 'size, mode -> mode, size', breaks: true },
  ]);
  expect(compare({ ...image, size, extra, mode })).toMatchObject([{ breaks: true }]);
  expect(compare({ ...image, size, mode, extra })).toEqual([]);
  // Connections have no saved value.
  expect(compare({ size, mode, ...image })).toEqual([]);
  expect(compare({ ...image, size })).toEqual([]);
});

test('a new required connection breaks workflows', () => {
  const define = (inputs: object) => [
    { host_node_name: 'Blur', input_types: JSON.stringify({ required: inputs }) },
  ];
  expect(compareDefinitions(define({}), define({ mask: ['MASK'] }))).toMatchObject([
    { change: 'input added', breaks: true },
  ]);
});

describe('what is computed at run time', () => {
  const computed = { $computed: 'list_files()' };
  const compare = (was: object, is: object) =>
    compareDefinitions([createDefinition('A', was, [])], [createDefinition('A', is, [])]);

  test('leaves open which inputs there are', () => {
    expect(compare({ required: { a: ['INT'] } }, { required: { b: ['INT'], ...computed } })).toMatchObject([
      { change: 'input added', detail: 'b: INT (required)' },
    ]);
    expect(compare({ required: { a: ['INT'] } }, { required: computed })).toEqual([]);
    expect(compare({ required: computed }, { required: { a: ['INT'] } })).toEqual([]);
    expect(compare({ ...computed, required: {} }, { required: { a: ['INT'] } })).toEqual([]);
  });

  test('leaves open which choices and bounds there are', () => {
    const choices = (...items: unknown[]) => ({ required: { a: [items] } });
    expect(compare(choices('x', 'y'), choices('x', computed))).toEqual([]);
    expect(compare(choices('x', computed), choices('x'))).toEqual([]);
    const bounds = (options: object) => ({ required: { a: ['INT', options] } });
    expect(compare(bounds({ min: 0 }), bounds({ min: computed }))).toEqual([]);
    expect(compare(bounds(computed), bounds({ min: 5, default: 1 }))).toEqual([]);
  });

  test('leaves open what an output is', () => {
    const define = (...types: unknown[]) => [createDefinition('A', {}, types as string[])];
    expect(compareDefinitions(define('IMAGE'), define(computed))).toEqual([]);
    expect(compareDefinitions(define(computed), define('IMAGE', 'MASK'))).toEqual([]);
    expect(compareDefinitions(define(['a', 'b']), define(['a']))).toEqual([]);
    expect(compareDefinitions(define(['a', 'b']), define('IMAGE'))).toMatchObject([{ breaks: true }]);
  });
});

test('bounds that the host has anyway narrow nothing', () => {
  const define = (options: object) => [createDefinition('A', { required: { a: ['INT', options] } }, [])];
  expect(compareDefinitions(define({}), define({ min: 0, max: 4096 }))).toEqual([]);
  expect(compareDefinitions(define({ max: 9000 }), define({ max: 4096 }))).toMatchObject([
    { change: 'range narrowed' },
  ]);
});

describe('what real packs do without breaking workflows', () => {
  const one = (inputs: object, outputs: string[] = []) => createDefinition('A', inputs, outputs);
  const other = (inputs: object, outputs: string[] = []) => createDefinition('B', inputs, outputs);
  const breaking = (before: object[], after: object[]) =>
    compareDefinitions(before, after).filter(({ breaks }) => breaks);

  test('another name of a type of their own, everywhere', () => {
    const before = [one({}, ['CONTEXT_A']), other({ required: { c: ['CONTEXT_A'] } })];
    const after = [one({}, ['CONTEXT_B']), other({ required: { c: ['CONTEXT_B'] } })];
    expect(breaking(before, after)).toEqual([]);
    expect(breaking(before, [after[0] as object, before[1] as object])).toHaveLength(1);
    const host = [one({}, ['VAE']), other({ required: { c: ['VAE'] } })];
    expect(breaking(host, after)).toHaveLength(2);
  });

  test('a connection that the host fills in from now on', () => {
    const before = [one({ optional: { size: ['AUTOSIZE'], n: ['INT'] } })];
    expect(breaking(before, [one({ optional: { n: ['INT'] }, hidden: { size: ['AUTOSIZE'] } })])).toEqual([]);
    expect(
      breaking(before, [one({ optional: { size: ['AUTOSIZE'] }, hidden: { n: 'UNIQUE_ID' } })]),
    ).toMatchObject([{ change: 'input removed', detail: 'n: INT' }]);
  });

  test('a repair of a definition that could not be used', () => {
    const before = [one({ required: { tooltip: 'A number' }, optional: { optional: { a: ['INT'] } } })];
    expect(breaking(before, [one({ required: { text: ['STRING'] }, optional: { a: ['INT'] } })])).toEqual([]);
  });
});
