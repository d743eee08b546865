import { randomUUID } from 'node:crypto';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { prune } from '../../../src/service/jobs/prune.js';
import { databaseForFolder, testDatabase } from '../../support/postgres.js';
import { registryForFile, startRegistry } from '../../support/registry.js';
import { type Answered, ask, folderForTest, serviceForTest } from '../../support/service.js';

const registry = registryForFile();

/** A node of this run. */
const createId = (word: string) => `${word}-${randomUUID().slice(0, 8)}`;

const nameChange = ({ change, node_id, version, publisher_id }: Answered) =>
  [change, node_id ?? publisher_id, version].filter(Boolean).join(' ');

/** Reads the feed to its end, a few changes at a time. */
async function followFeed(url: string, since?: string, limit = 2) {
  const names: string[] = [];
  let cursor = since;
  for (;;) {
    const query = new URLSearchParams({
      limit: String(limit),
      ...(cursor !== undefined && { since: cursor }),
    });
    const { body } = await ask(`${url}/changes?${query}`);
    names.push(...body.changes.map(nameChange));
    cursor = body.cursor as string;
    if (!body.more) return { names, cursor };
  }
}

describe('the feed of changes', () => {
  it('tells in order what became of public nodes and versions, and nothing of what was never public', async () => {
    const { url, active, publish, ok } = registry();
    const { cursor } = await followFeed(url);
    const id = createId('told');
    const version = await active(id, '1.0.0');
    await active(id, '2.0.0', 'NodeVersionStatusFlagged');
    await publish(id, '3.0.0');
    const path = `/publishers/acme/nodes/${id}/versions/${version.id}`;
    await ok('ann', 'PUT', path, { changelog: 'Only this' });
    await ok('ann', 'PUT', path, { deprecated: true });
    await ok('ann', 'PUT', path, { deprecated: true, changelog: 'Again' });
    await ok('ann', 'PUT', path, { deprecated: false });
    await ok('admin', 'PUT', `/admin/nodes/${id}/versions/1.0.0`, { status: 'NodeVersionStatusFlagged' });
    await ok('admin', 'PUT', `/admin/nodes/${id}/versions/1.0.0`, {
      status: 'NodeVersionStatusBanned',
      status_reason: 'A secret reason',
    });
    await ok('ann', 'DELETE', `/publishers/acme/nodes/${id}/versions/3.0.0`);
    await ok('ann', 'DELETE', path);
    await ok('admin', 'PUT', '/admin/publishers/acme', { status: 'PublisherStatusBanned' });
    await ok('admin', 'PUT', '/admin/publishers/acme', { status: 'PublisherStatusActive' });
    await ok('ann', 'DELETE', `/publishers/acme/nodes/${id}`);
    expect((await followFeed(url, cursor)).names).toEqual([
      `node.created ${id}`,
      `version.active ${id} 1.0.0`,
      `version.deprecated ${id} 1.0.0`,
      `version.undeprecated ${id} 1.0.0`,
      `version.flagged ${id} 1.0.0`,
      `version.banned ${id} 1.0.0`,
      `version.deleted ${id} 1.0.0`,
      'publisher.banned acme',
      'publisher.active acme',
      `node.deleted ${id}`,
    ]);
    expect(JSON.stringify((await ask(`${url}/changes?since=${cursor}`)).body)).not.toContain('secret');
  });

  it('has the last changes, those of one node, and its end for who begins now', async () => {
    const { url, active } = registry();
    const [one, two] = [createId('one'), createId('two')];
    await active(one, '1.0.0');
    await active(two, '1.0.0');
    const last = (await ask(`${url}/changes?last=2`)).body;
    expect(last.changes.map(nameChange)).toEqual([`node.created ${two}`, `version.active ${two} 1.0.0`]);
    expect((await ask(`${url}/changes?node_id=${one}`)).body.changes.map(nameChange)).toEqual([
      `node.created ${one}`,
      `version.active ${one} 1.0.0`,
    ]);
    const end = (await ask(`${url}/changes?last=0`)).body;
    expect(end).toMatchObject({ changes: [], more: false });
    expect((await followFeed(url, end.cursor)).names).toEqual([]);
    await active(two, '2.0.0');
    expect((await followFeed(url, end.cursor)).names).toEqual([`version.active ${two} 2.0.0`]);
    expect((await ask(`${url}/changes?last=2&since=${end.cursor}`)).status).toBe(400);
  });

  it('refuses a cursor that it did not give, such as one from before a service was restored', async () => {
    const { url, active } = registry();
    await active(createId('restored'), '1.0.0');
    const { cursor } = await followFeed(url);
    const [place] = cursor.split('-');
    for (const since of [
      `${place}-0`,
      `${Number(place) + 5}-abc`,
      '-1',
      'x',
      '9e9-1',
      `${'9'.repeat(40)}-a`,
    ]) {
      const { status, body } = await ask(`${url}/changes?since=${since}`);
      expect([status, body.error]).toEqual([410, 'unknown_cursor']);
      expect(body.message).toContain('start again without since');
    }
  });

  it('is whole after the audit log was pruned', async () => {
    const { url, active, service } = await startRegistry();
    onTestFinished(() => service.stop());
    await active('pruned', '1.0.0');
    const before = await followFeed(url);
    const later = service.context.now() + 5_000 * 24 * 60 * 60_000;
    await prune({ ...service.context, now: () => later });
    expect(await followFeed(url)).toEqual(before);
  });

  it('is closed where reads need a credential', async () => {
    const closed = await startRegistry({ registry: { read: 'authenticated' } });
    onTestFinished(() => closed.service.stop());
    expect((await closed.as('guest', 'GET', '/changes')).status).toBe(401);
    expect((await fetch(`${closed.url}/web/changes.atom`)).status).toBe(401);
    expect((await closed.as('eve', 'GET', '/changes')).status).toBe(200);
  });
});

/** Two services on one database. @returns who writes at the first, and where to read the second */
async function twoServicesForTest() {
  const folder = folderForTest();
  const { database } = await databaseForFolder(folder);
  mkdirSync(join(folder, 'objects'));
  const data = ['a', 'b'].map((part) => join(folder, part)) as [string, string];
  for (const own of data) {
    mkdirSync(own, { mode: 0o700 });
    symlinkSync(join(folder, 'objects'), join(own, 'objects'));
  }
  const { active, service } = await startRegistry({ database, data: data[0] });
  onTestFinished(() => service.stop());
  const { url } = await serviceForTest({ database, data: data[1] });
  return { active, url, database };
}

describe.skipIf(!testDatabase)('the feed of services on one PostgreSQL database', () => {
  it('has an event that is committed after others with higher numbers, and after they were read', async () => {
    const { active, url, database } = await twoServicesForTest();
    await active('first', '1.0.0');
    const { cursor } = await followFeed(url);
    // A transaction that has its number, and is still open.
    const slow = new pg.Client({ connectionString: database });
    await slow.connect();
    onTestFinished(() => slow.end());
    await slow.query('begin');
    const insert = `insert into events (at, actor, subject_kind, subject_id, publisher_id, action, status)
      values ('2026-01-01T00:00:00.000Z', 'ann', 'node', 'first', 'acme', 'node.status', 'NodeStatusBanned')`;
    await slow.query(insert);
    await active('second', '1.0.0');
    const read = await followFeed(url, cursor);
    expect(read.names).toEqual(['node.created second', 'version.active second 1.0.0']);
    await slow.query('commit');
    expect((await followFeed(url, read.cursor)).names).toEqual(['node.banned first']);
    const again = await followFeed(url, cursor);
    expect(again.names).toEqual([...read.names, 'node.banned first']);
  });

  it('is the same for all that read it at once while versions become Active', async () => {
    const { active, url } = await twoServicesForTest();
    const writing = Promise.all(Array.from({ length: 20 }, (_, at) => active(`node-${at}`, '1.0.0')));
    let isWriting = true;
    void writing.finally(() => {
      isWriting = false;
    });
    const mirror = async () => {
      let [names, cursor]: [string[], string | undefined] = [[], undefined];
      while (isWriting) {
        const part = await followFeed(url, cursor);
        names = [...names, ...part.names];
        cursor = part.cursor;
      }
      return [...names, ...(await followFeed(url, cursor)).names];
    };
    const mirrors = await Promise.all([mirror(), mirror(), mirror()]);
    await writing;
    const whole = (await followFeed(url)).names;
    expect(whole.filter((one) => one.startsWith('version.active'))).toHaveLength(20);
    for (const names of mirrors) expect(names).toEqual(whole);
  });
});
