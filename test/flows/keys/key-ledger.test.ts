import { expect, test } from 'vitest';
import { getOwnIdentity } from '../../../src/disk/process-identity.js';
import { openLedger } from '../../../src/flows/keys/key-ledger.js';
import { folderForTest } from '../../support/service.js';

const DRAFT = { service: 'local', operation: 'image.relight', request: { prompt: 'a' }, name: 'a' };

test('an API key has the tasks that were started with it, and changes no others; without one, all are there', async () => {
  const folder = folderForTest();
  // Nothing of a process that has ended keeps another one from resuming its tasks.
  const ended = { ...getOwnIdentity(), pid: 2 ** 22 + 1 };
  const open = (key?: string) => openLedger(key, folder, Date.now, ended, folder);
  const start = async (key: string) =>
    (await open(key).open({ ...DRAFT, request: { prompt: key } }, 'unfinished')).entry.id;
  const { entry } = await open().open(DRAFT, 'new');
  const ids = [await start('one'), await start('two'), entry.id];
  const listIds = (key?: string) => [...open(key).entries()].map(({ id }) => id);
  expect(listIds('one')).toEqual([ids[0]]);
  expect(listIds('two')).toEqual([ids[1]]);
  expect(open('one').find(ids[1] as string)).toBeUndefined();
  await open('one').change(ids[1] as string, { state: 'GONE' });
  expect(open('two').read(ids[1] as string)?.state).toBeUndefined();
  expect(listIds().sort()).toEqual(ids.sort());
});

test.each([{}, { profile: 'team' }])(
  'a program with an API key does not start what another credential left unfinished (%o)',
  async (account) => {
    const folder = folderForTest();
    const ended = { ...getOwnIdentity(), pid: 2 ** 22 + 1 };
    const open = (key?: string) => openLedger(key, folder, Date.now, ended, folder);
    const all = open();
    const { entry } = await all.open({ ...DRAFT, ...account }, 'new');
    await all.change(entry.id, { task_id: 'task' });
    await expect(open('one').open(DRAFT, 'unfinished')).rejects.toThrow('The task task of an earlier run');
    expect([...open().entries()]).toHaveLength(1);
    await all.change(entry.id, { closed: true });
    expect((await open('one').open(DRAFT, 'unfinished')).repeats).toBe(false);
  },
);
