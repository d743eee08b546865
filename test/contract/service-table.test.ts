import { describe, expect, it } from 'vitest';
import { contract, getOperation, getTaskFacts, listTaskOperations } from '../../src/contract/index.js';
import { listOperations } from '../../src/contract/operation.js';
import { listContractFacts } from './contract-facts.js';
import { listTableFacts, readAdditions, readTable, type TableBlock } from './service-table.js';

const blocks = readTable();
const additions = readAdditions();
const listBlockNames = (kind: TableBlock['kind']) =>
  blocks.filter((block) => block.kind === kind).map(({ name }) => name);

const inTable = listTableFacts(blocks, new Set());
const inContract = listContractFacts(new Set(listBlockNames('resource')));
/** A shape only exists where it is used. */
const isOfShape = (fact: string) => listBlockNames('shape').some((name) => fact.startsWith(`${name} `));

describe('the contract', () => {
  it('has every fact of the table', () => {
    const missing = [...inTable].filter((fact) => !inContract.has(fact) && !additions.departures.has(fact));
    expect(missing).toEqual([]);
  });

  it('has nothing beyond the table except the listed additions', () => {
    const known = listTableFacts(blocks, additions.facts);
    const beyond = [...inContract].filter((fact) => !known.has(fact) && !additions.facts.has(fact));
    expect(beyond).toEqual([]);
  });

  it('gives a reason for every operation beyond the table, and for no other', () => {
    const inTable = new Set(listBlockNames('operation'));
    for (const [name, { extension }] of listOperations(contract)) {
      expect(extension?.length ?? 0, name)[inTable.has(name) ? 'toBe' : 'toBeGreaterThan'](0);
    }
  });

  it('has another operation that reads each task it starts', () => {
    expect(listTaskOperations().sort()).toEqual([
      ...['image.relight', 'image.skinEnhancer', 'image.styleTransfer', 'image.upscaler'],
      ...['video.extend', 'video.startEnd2video', 'video.text2video'],
    ]);
    for (const name of listTaskOperations()) {
      const reader = getOperation(getTaskFacts(name).read);
      expect(reader.method, name).toBe('GET');
      expect(Object.keys(reader.params.shape), name).toEqual(['task_id']);
    }
  });
});

describe('the list of additions', () => {
  it('lists nothing that the contract does not have', () => {
    const stale = [...additions.facts].filter((fact) => !isOfShape(fact) && !inContract.has(fact));
    expect(stale).toEqual([]);
    const known = listTableFacts(blocks, additions.facts);
    const unused = [...known].filter((fact) => !inContract.has(fact) && !additions.departures.has(fact));
    expect(unused).toEqual([]);
  });

  it('lists nothing that is in the table, and no departures from anything else', () => {
    expect([...additions.facts].filter((fact) => inTable.has(fact))).toEqual([]);
    expect([...additions.departures].filter((fact) => !inTable.has(fact))).toEqual([]);
  });
});
