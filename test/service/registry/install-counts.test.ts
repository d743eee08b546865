import { sql } from 'kysely';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../../src/service/database/database.js';
import { InstallCounts } from '../../../src/service/registry/install-counts.js';
import { toClientNetwork } from '../../../src/wire/addresses.js';
import { openTestDatabase } from '../../support/postgres.js';
import { startRegistry } from '../../support/registry.js';
import { folderForTest, serviceForTest } from '../../support/service.js';

const at = '2026-01-01T00:00:00.000Z';
let time: number;
let logged: string[];
let database: Database;
let installs: InstallCounts;

beforeEach(async () => {
  time = Date.parse(at);
  logged = [];
  database = await openTestDatabase(folderForTest());
  onTestFinished(() => database.destroy());
  installs = new InstallCounts({ database, now: () => time, log: (_, message) => logged.push(message) });
  await database.transaction().execute(async (tx) => {
    const acme = { id: 'acme', name: 'Acme', status: 'PublisherStatusActive', created_at: at };
    await tx.insertInto('publishers').values(acme).execute();
    const node = { id: 'pack', folded_id: 'pack', publisher_id: 'acme', name: 'Pack', created_at: at };
    const rest = {
      details: '{}',
      search_text: '',
      search_ranking: 0,
      status: 'Active',
      downloads: 0,
      number: 1,
    };
    await tx
      .insertInto('nodes')
      .values({ ...node, ...rest })
      .execute();
  });
});

const countInstall = (address: string, versionId = 'v1') =>
  installs.count({ nodeId: 'pack', versionId, address });

async function readDownloads(): Promise<number> {
  await installs.write();
  const { downloads } = await database.selectFrom('nodes').select('downloads').executeTakeFirstOrThrow();
  return downloads;
}

describe('downloads', () => {
  it('count once per address, version and day', async () => {
    for (let time = 0; time < 3; time += 1) countInstall('192.0.2.1');
    expect(await readDownloads()).toBe(1);
    countInstall('192.0.2.1');
    countInstall('192.0.2.2');
    countInstall('192.0.2.1', 'v2');
    expect(await readDownloads()).toBe(3);
    time += 24 * 60 * 60 * 1000;
    countInstall('192.0.2.1');
    expect(await readDownloads()).toBe(4);
  });

  it('count the addresses of one IPv6 customer once', async () => {
    countInstall('2001:db8:1:2::1');
    countInstall('2001:db8:1:2:ffff::9');
    countInstall('2001:db8:1:3::1');
    expect(await readDownloads()).toBe(2);
  });

  it('are still counted after more addresses than are remembered', async () => {
    for (let index = 0; index <= 100_000; index += 1) countInstall(`address ${index}`);
    countInstall('address 100000');
    countInstall('address 0');
    expect(await readDownloads()).toBe(100_002);
  });

  it('that could not be written are written later', async () => {
    const rename = (from: string, to: string) =>
      database.transaction().execute((tx) => sql.raw(`alter table ${from} rename to ${to}`).execute(tx));
    await rename('nodes', 'hidden');
    countInstall('192.0.2.1');
    await installs.write();
    expect(logged).toHaveLength(1);
    await rename('hidden', 'nodes');
    expect(await readDownloads()).toBe(1);
  });

  it('are written when the service stops', async () => {
    const data = folderForTest();
    const first = await startRegistry({ data });
    await first.active('pack', '1.0.0');
    for (const who of ['guest', 'eve'] as const) await first.ok(who, 'GET', '/nodes/pack/install');
    await first.service.stop();
    const { database } = (await serviceForTest({ data })).context;
    const { downloads } = await database.selectFrom('nodes').select('downloads').executeTakeFirstOrThrow();
    expect(downloads).toBe(1);
  });
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8::', '2001:db8:0:0::/64'],
  ['2001:0db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('the network of %s is %s', (address, network) => {
  expect(toClientNetwork(address)).toBe(network);
});
