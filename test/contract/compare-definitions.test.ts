import { expect, test } from 'vitest';
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
  [{ min: 1, max: 5 }, { max: 9 }, []],
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
