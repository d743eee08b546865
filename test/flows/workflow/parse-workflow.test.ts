import { expect, it } from 'vitest';
import { NotAWorkflow, parseWorkflow } from '../../../src/flows/workflow/parse-workflow.js';

const parse = (value: unknown) =>
  parseWorkflow('flow.json', Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));

it('passes over what is not a node or a link, and keeps names that every object has', () => {
  const links = [
    null,
    5,
    [1],
    [2, 1, 0, 2, 0, 7],
    { id: '__proto__', origin_id: 1, origin_slot: 0, target_id: 2 },
  ];
  const inputs = [null, { name: 'constructor', link: '__proto__' }, { name: 7, link: 2 }];
  const nodes = [
    null,
    5,
    { type: 5 },
    { id: 1, type: '__proto__' },
    { id: 2, type: 'A', inputs, properties: 'x' },
  ];
  const { nodes: found } = parse({ nodes, links });
  expect(found.map(({ id, name }) => `${id} ${name}`)).toEqual(['1 __proto__', '2 A']);
  expect([...(found[1]?.links ?? [])]).toEqual([['constructor', { from: '1', slot: 0, type: undefined }]]);
});

it('reads prompts of the API whose nodes are linked in a circle, and those inside another object', () => {
  const prompt = {
    1: { class_type: 'A', inputs: { in: ['2', 0] } },
    2: { class_type: 'B', inputs: { in: ['1', 0] } },
  };
  for (const whole of [prompt, { prompt }, { workflow: { nodes: [{ type: 'A' }, { type: 'B' }] } }])
    expect(parse(whole).nodes.map(({ name }) => name)).toEqual(['A', 'B']);
});

it('takes a commit as no version, and completes versions', () => {
  const readPack = (ver?: string) =>
    parse({ nodes: [{ type: 'A', properties: { cnr_id: 'x', ver } }] }).nodes[0]?.pack;
  expect([
    readPack('v1.2.0'),
    readPack('1.2'),
    readPack('04e89e1b'),
    readPack('1234567'),
    readPack(),
  ]).toEqual([
    { node_id: 'x', version: '1.2.0' },
    { node_id: 'x', version: '1.2.0' },
    { node_id: 'x' },
    { node_id: 'x' },
    { node_id: 'x' },
  ]);
});

it('refuses what is no workflow, too large or nested too deeply', () => {
  const many = { nodes: Array.from({ length: 20_001 }, (_, id) => ({ id, type: 'A' })) };
  const wrong = [
    '',
    '{',
    'null',
    '{}',
    '[1]',
    '{"1":{"class_type":5}}',
    '['.repeat(201),
    many,
    { nodes: [{ type: 'A'.repeat(2000) }] },
  ];
  for (const value of wrong) expect(() => parse(value)).toThrow(NotAWorkflow);
});
