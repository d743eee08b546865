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

it('lets links begin where their reroutes do, also those that lead in a circle', () => {
  const reroute = (id: number, link: number) => ({ id, type: 'Reroute', inputs: [{ name: '', link }] });
  const take = (id: number, link: number) => ({ id, type: 'B', inputs: [{ name: 'in', link }] });
  const nodes = [{ id: 1, type: 'A' }, reroute(2, 1), reroute(3, 2), take(4, 3), reroute(5, 4), take(6, 5)];
  const links = [
    [1, 1, 2, 2, 0, '*'],
    [2, 2, 0, 3, 0, 'OLD'],
    [3, 3, 0, 4, 0, 'OLD'],
    [4, 5, 0, 5, 0, 'OLD'],
    [5, 5, 0, 6, 0, 'OLD'],
  ];
  const found = parse({ nodes, links }).nodes.map(({ id, links }) => [id, links.get('in')]);
  expect(found).toEqual([
    ['1', undefined],
    ['4', { from: '1', slot: 2, type: '*' }],
    ['6', { from: '5', slot: 0, type: 'OLD' }],
  ]);
});

it('tells results that are used from those that lead only to outputs that nothing takes', () => {
  const outputs = [{ name: 'OUT' }];
  const nodes = [
    { id: 1, type: 'Used', outputs },
    { id: 2, type: 'Save' },
    { id: 3, type: 'Unsure', outputs },
    { id: 4, type: 'Last', outputs },
    { id: 5, type: 'Muting', outputs },
    { id: 6, type: 'Muted', mode: 2 },
  ];
  const links = [
    [1, 1, 0, 2, 0],
    [2, 3, 0, 4, 0],
    [3, 4, 1, 3, 0],
    [4, 5, 0, 6, 0],
  ];
  expect(
    parse({ nodes, links: links.slice(0, 2).concat(links.slice(3)) }).nodes.map(({ isUsed }) => isUsed),
  ).toEqual([true, false, undefined, false, false, false]);
  expect(parse({ nodes, links }).nodes[3]?.isUsed).toBeUndefined();
});
