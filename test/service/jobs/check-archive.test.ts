import { existsSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../../src/library/index.js';
import { formatFindings } from '../../../src/service/jobs/check-archive.js';
import { createRawZip } from '../../pack/raw-zip.js';
import { listChildProcesses } from '../../support/child-processes.js';
import { createZip } from '../../support/create-zip.js';
import {
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../../support/service.js';

it('lists each finding on a line, high severity first', () => {
  const finding = (severity: 'high' | 'low', line: number) =>
    ({ severity, file: 'a.py', line, message: 'reads keys', rule: 'keys' }) as never;
  expect(formatFindings([finding('low', 1), finding('high', 2)])).toBe(
    'a.py:2 reads keys (keys)\na.py:1 reads keys (keys, only noted)',
  );
  expect(formatFindings([finding('low', 1)])).toBe('a.py:1 reads keys (keys, only noted)');
});

it('lists where nodes may be lost, and fails the extraction that reads none', async () => {
  const service = await serviceForTest();
  const publisher = await publisherForTest(service);
  const publish = async (version: string, source: string) => {
    const { signedUrl } = await registerVersion(publisher, version);
    await uploadArchive(signedUrl, await createZip({ '__init__.py': source }));
    const read = () => readVersion(publisher, version);
    await expect.poll(async () => (await read()).host_node_extract_status).not.toBe('pending');
    return read();
  };
  expect(await publish('1.0.0', 'NODE_CLASS_MAPPINGS = load()')).toMatchObject({
    status: 'NodeVersionStatusActive',
    host_node_extract_status: 'failed',
    status_reason: expect.stringMatching(
      /^No node definition could be read.*\n__init__\.py:1 Nodes may be missing: NODE_CLASS_MAPPINGS of __init__\.py is computed at run time/,
    ),
  });
  expect(await publish('1.0.1', 'class A: pass\nNODE_CLASS_MAPPINGS = {"A": A, **more()}')).toMatchObject({
    host_node_extract_status: 'success',
    status_reason: '__init__.py:1 Nodes may be missing: nodes are registered at run time: **more()',
  });
});

it.skipIf(!existsSync('/proc/self/stat'))(
  'reads one archive after another in the same process, which ends with the service',
  async () => {
    const service = await serviceForTest();
    const publisher = await publisherForTest(service);
    const archive = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
    const processes: number[][] = [];
    for (const version of ['1.0.0', '1.0.1']) {
      const { signedUrl } = await registerVersion(publisher, version);
      await uploadArchive(signedUrl, archive);
      const readStatus = async () => (await readVersion(publisher, version)).status;
      await expect.poll(readStatus).toBe('NodeVersionStatusActive');
      processes.push(listChildProcesses('pack-reader'));
    }
    expect(processes).toEqual([[expect.any(Number)], processes[0]]);
    await service.stop();
    expect(listChildProcesses('pack-reader')).toEqual([]);
  },
);

// The slow process is known by its lower priority.
it.skipIf(!existsSync('/proc/self/stat') || getPriority() === constants.priority.PRIORITY_LOW)(
  'keeps users from waiting for the slow archives of another one, and for what that one publishes after them',
  async () => {
    const { url, signFor } = await serviceForTest();
    const publish = async (sub: string, id: string, archive: Buffer) => {
      const client = createClient({
        baseUrl: url,
        token: await signFor({ sub, email: `${sub}@example.org` }),
      });
      onTestFinished(() => client.close());
      await client.publisher.create({ body: { id, name: id } });
      const { token } = await client.publisher.token.create({ publisherId: id, body: { name: 'test' } });
      const body = { node: {}, node_version: { version: '1.0.0' }, personal_access_token: token };
      const { signedUrl } = await client.version.publish({ publisherId: id, nodeId: `${id}-pack`, body });
      await uploadArchive(signedUrl, archive);
      return async () => (await client.version.get({ nodeId: `${id}-pack`, version: '1.0.0' })).status;
    };
    const quick = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
    const minus = { name: 'a.py', content: `x = ${'-'.repeat(390_000)}1\n`, method: 0 };
    const findSlow = () =>
      listChildProcesses('pack-reader').filter((pid) => getPriority(pid) > getPriority());
    const signalSlow = (signal: NodeJS.Signals) => {
      for (const pid of findSlow()) process.kill(pid, signal);
    };
    const holding = setInterval(signalSlow, 5, 'SIGSTOP');
    onTestFinished(() => clearInterval(holding));

    const first = await publish('eve', 'slow', createRawZip([{ name: '__init__.py', content: '' }, minus]));
    await expect.poll(() => findSlow().length).toBe(1);
    const second = await publish('eve', 'other', quick);
    const honest = await publish('ann', 'acme', quick);
    await expect.poll(honest).toBe('NodeVersionStatusActive');
    expect([await first(), await second()]).toEqual(['NodeVersionStatusPending', 'NodeVersionStatusPending']);
    clearInterval(holding);
    signalSlow('SIGCONT');
    await expect.poll(second).toBe('NodeVersionStatusActive');
    expect(await first()).toBe('NodeVersionStatusFlagged');
  },
);

it.skipIf(!existsSync('/proc/self/stat'))(
  'gives no verdict on an archive whose reader is ended from outside, however often that happened',
  async () => {
    const service = await serviceForTest();
    const { database } = service.context;
    const publisher = await publisherForTest(service);
    const { signedUrl } = await registerVersion(publisher);
    const minus = { name: 'a.py', content: `x = ${'-'.repeat(390_000)}1\n`, method: 0 };
    const signalSlow = (signal: NodeJS.Signals) => {
      const slow = listChildProcesses('pack-reader').filter((pid) => getPriority(pid) > getPriority());
      for (const pid of slow) process.kill(pid, signal);
      return slow.length;
    };
    const holding = setInterval(signalSlow, 5, 'SIGSTOP');
    onTestFinished(() => clearInterval(holding));
    await uploadArchive(signedUrl, createRawZip([{ name: '__init__.py', content: '' }, minus]));

    const readJob = () =>
      database
        .selectFrom('jobs')
        .select(['attempts', 'leased_by', 'last_error'])
        .where('kind', '=', 'check-slow-archive')
        .executeTakeFirst();
    const endReader = () => expect.poll(() => signalSlow('SIGKILL')).toBe(1);
    await endReader();
    // As after ten of them.
    const countTen = async () => {
      signalSlow('SIGKILL');
      const { numUpdatedRows } = await database
        .transaction()
        .execute((tx) =>
          tx
            .updateTable('jobs')
            .set({ attempts: 10 })
            .where('kind', '=', 'check-slow-archive')
            .where('leased_by', 'is', null)
            .executeTakeFirst(),
        );
      return Number(numUpdatedRows);
    };
    await expect.poll(countTen).toBe(1);
    await endReader();
    clearInterval(holding);
    const failed = {
      attempts: 11,
      leased_by: null,
      last_error: expect.stringContaining('ended from outside'),
    };
    await expect.poll(readJob).toMatchObject(failed);
    expect((await readVersion(publisher)).status).toBe('NodeVersionStatusPending');
  },
);
