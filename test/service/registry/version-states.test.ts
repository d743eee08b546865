import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../../src/service/database/database.js';
import { compareVersions, isPreRelease } from '../../../src/service/registry/version-order.js';
import {
  changeVersionStatus,
  markUploaded,
  refreshLatest,
  type TransitionRight,
  type VersionStatus,
} from '../../../src/service/registry/version-states.js';
import { openTestDatabase, testDatabase } from '../../support/postgres.js';
import { observeReads } from '../../support/query-plans.js';
import { folderForTest } from '../../support/service.js';

const now = Date.parse('2026-01-01T00:00:00Z');
const at = new Date(now).toISOString();
const states = ['Active', 'Deleted', 'Banned', 'Pending', 'Flagged'] as const;
const toStatus = (state: (typeof states)[number]): VersionStatus => `NodeVersionStatus${state}`;

let database: Database;
beforeEach(async () => {
  database = await openTestDatabase(folderForTest());
  onTestFinished(() => database.destroy());
  await database.transaction().execute(async (tx) => {
    const publisher = { id: 'acme', name: 'Acme', status: 'PublisherStatusActive', created_at: at };
    await tx
      .insertInto('publishers')
      .values({ ...none, ...publisher })
      .execute();
    const node = { id: 'pack', folded_id: 'pack', publisher_id: 'acme', name: 'Pack', created_at: at };
    await tx
      .insertInto('nodes')
      .values({
        ...node,
        details: '{}',
        search_text: '',
        number: 1,
        search_ranking: 0,
        status: 'NodeStatusActive',
        status_detail: null,
        downloads: 0,
        latest_version_id: null,
      })
      .execute();
  });
});

const UNCHECKED = 'without a checked archive';
const none = {
  description: null,
  logo: null,
  source_code_repo: null,
  support: null,
  website: null,
  status_reason: null,
};

async function addVersion(
  version: string,
  status: VersionStatus,
  uploaded = true,
  details = {},
  approve_by: string | null = null,
): Promise<void> {
  await database.transaction().execute((tx) =>
    tx
      .insertInto('versions')
      .values({
        id: version,
        node_id: 'pack',
        version,
        details: JSON.stringify(details),
        status,
        status_reason: status === toStatus('Deleted') && !uploaded ? 'no_archive' : null,
        extract_status: 'pending',
        archive_size: uploaded ? 1 : null,
        archive_sha256: uploaded ? '00' : null,
        archive_tree: uploaded ? '00' : null,
        uploaded_at: uploaded ? at : null,
        created_at: at,
        approve_by,
      })
      .execute(),
  );
}

function moveVersion(
  version: string,
  to: VersionStatus,
  right: TransitionRight,
  reason?: string,
): Promise<void> {
  return database
    .transaction()
    .execute((tx) => changeVersionStatus(tx, { versionId: version, to, right, actor: 'ann', reason, now }));
}

async function readLatest(): Promise<string | null> {
  await database.transaction().execute((tx) => refreshLatest(tx, 'pack'));
  const node = await database.selectFrom('nodes').select('latest_version_id').executeTakeFirstOrThrow();
  return node.latest_version_id;
}

/** `from → to` of every move that is not refused. */
async function listMoves(
  right: TransitionRight,
  uploaded: boolean,
  approveBy: string | null = null,
): Promise<string[]> {
  const possible: string[] = [];
  for (const [index, from] of states.entries()) {
    for (const [offset, to] of states.entries()) {
      const version = `${index}.${offset}.${uploaded ? 1 : 0}-${right}${approveBy ? '.staged' : ''}`;
      await addVersion(version, toStatus(from), uploaded, {}, approveBy);
      const refusal = await moveVersion(version, toStatus(to), right).catch((error) => error.code);
      if (refusal === undefined) possible.push(`${from} → ${to}`);
      else expect(refusal).toBe('invalid_transition');
    }
  }
  return possible;
}

describe('the states of a version', () => {
  it('let an owner delete a version, and change nothing else', async () => {
    const deletes = states.map((from) => `${from} → Deleted`);
    expect(await listMoves('owner', true)).toEqual(deletes);
    expect(await listMoves('owner', false)).toEqual(deletes);
  });

  it('let the service leave Pending, depending on the archive', async () => {
    expect(await listMoves('service', true)).toEqual(['Pending → Active', 'Pending → Flagged']);
    expect(await listMoves('service', false)).toEqual(['Pending → Deleted']);
  });

  it('let an owner approve what is staged and checked, which the service does not make Active', async () => {
    expect(await listMoves('approval', true)).toEqual([]);
    expect(await listMoves('approval', false, at)).toEqual([]);
    expect(await listMoves('approval', true, at)).toEqual(['Pending → Active']);
    expect(await listMoves('service', true, at)).toEqual(['Pending → Deleted', 'Pending → Flagged']);
    expect(await listMoves('service', false, at)).toEqual(['Pending → Deleted']);
  });

  it('let a number be registered again only if nothing was uploaded', async () => {
    expect(await listMoves('registration', true)).toEqual([]);
    expect(await listMoves('registration', false)).toEqual(['Deleted → Pending', 'Pending → Pending']);
  });

  it('let an admin set the status of any version that has an archive and is not deleted', async () => {
    const checked = ['Active', 'Banned', 'Pending', 'Flagged'];
    expect(await listMoves('admin', true)).toEqual(
      checked.flatMap((from) => ['Active', 'Banned', 'Flagged'].map((to) => `${from} → ${to}`)),
    );
  });

  it('let an admin ban or flag a version without an archive, but not activate it', async () => {
    const checked = ['Active', 'Banned', 'Pending', 'Flagged'];
    expect(await listMoves('admin', false)).toEqual(
      checked.flatMap((from) => ['Banned', 'Flagged'].map((to) => `${from} → ${to}`)),
    );
    await addVersion('1.0.0', toStatus('Pending'), false);
    await expect(moveVersion('1.0.0', toStatus('Active'), 'admin')).rejects.toThrow(UNCHECKED);
  });

  it('let no admin activate an archive that is not checked yet', async () => {
    await addVersion('1.0.0', toStatus('Pending'));
    await database
      .transaction()
      .execute((tx) => tx.updateTable('versions').set({ archive_tree: null }).execute());
    await expect(moveVersion('1.0.0', toStatus('Active'), 'admin')).rejects.toThrow(UNCHECKED);
    await moveVersion('1.0.0', toStatus('Flagged'), 'admin');
    await expect(moveVersion('1.0.0', toStatus('Active'), 'admin')).rejects.toThrow(UNCHECKED);
  });

  it('never free the number of a banned version', async () => {
    await addVersion('1.0.0', toStatus('Pending'), false);
    await moveVersion('1.0.0', toStatus('Banned'), 'admin', 'spam');
    await moveVersion('1.0.0', toStatus('Deleted'), 'owner');
    await expect(moveVersion('1.0.0', toStatus('Pending'), 'registration')).rejects.toMatchObject({
      code: 'invalid_transition',
    });
  });

  it('record who changed what and why, but not changes without effect', async () => {
    await addVersion('1.0.0', toStatus('Pending'));
    await moveVersion('1.0.0', toStatus('Flagged'), 'service', 'bad zip');
    await moveVersion('1.0.0', toStatus('Deleted'), 'owner');
    await moveVersion('1.0.0', toStatus('Deleted'), 'owner');
    const events = await database.selectFrom('events').select(['actor', 'status', 'reason', 'at']).execute();
    expect(events).toEqual([
      { actor: 'ann', status: 'NodeVersionStatusFlagged', reason: 'bad zip', at },
      { actor: 'ann', status: 'NodeVersionStatusDeleted', reason: null, at },
    ]);
  });

  it('have the reason no_archive if a version is deleted before its upload', async () => {
    await addVersion('1.0.0', toStatus('Pending'), false);
    await moveVersion('1.0.0', toStatus('Deleted'), 'service');
    const { status_reason } = await database.selectFrom('versions').selectAll().executeTakeFirstOrThrow();
    expect(status_reason).toBe('no_archive');
  });

  it('cannot be set for an unknown version', async () => {
    await expect(moveVersion('9.9.9', toStatus('Deleted'), 'owner')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('accept an archive once, and only while Pending', async () => {
    await addVersion('1.0.0', toStatus('Pending'), false);
    await addVersion('2.0.0', toStatus('Deleted'), false);
    const mark = (versionId: string) =>
      database
        .transaction()
        .execute((tx) => markUploaded(tx, { versionId, archive: { key: 'k', size: 5, sha256: 'ab' }, now }));
    expect([await mark('1.0.0'), await mark('1.0.0'), await mark('2.0.0')]).toEqual([true, false, false]);
  });
});

describe('the latest version', () => {
  it('is stable rather than pre-release, not deprecated rather than deprecated, then the highest', async () => {
    expect(await readLatest()).toBeNull();
    const steps: [version: string, state: (typeof states)[number], details: object, latest: string | null][] =
      [
        ['9.0.0', 'Flagged', {}, null],
        ['3.0.0-rc.1', 'Active', {}, '3.0.0-rc.1'],
        ['3.0.0-rc.2', 'Active', { deprecated: true }, '3.0.0-rc.1'],
        ['2.0.0', 'Active', { deprecated: true }, '2.0.0'],
        ['1.9.0', 'Active', {}, '1.9.0'],
        ['1.10.0', 'Active', {}, '1.10.0'],
        ['1.2.0', 'Active', { deprecated: false }, '1.10.0'],
      ];
    for (const [version, state, details, expected] of steps) {
      await addVersion(version, toStatus(state), true, details);
      expect(await readLatest(), version).toBe(expected);
    }
  });

  it('follows each change of state', async () => {
    await addVersion('1.0.0', toStatus('Pending'));
    await addVersion('2.0.0', toStatus('Pending'));
    const now = async () =>
      (await database.selectFrom('nodes').select('latest_version_id').executeTakeFirstOrThrow())
        .latest_version_id;
    await moveVersion('1.0.0', toStatus('Active'), 'service');
    expect(await now()).toBe('1.0.0');
    await moveVersion('2.0.0', toStatus('Active'), 'service');
    expect(await now()).toBe('2.0.0');
    await moveVersion('2.0.0', toStatus('Banned'), 'admin');
    expect(await now()).toBe('1.0.0');
    await moveVersion('1.0.0', toStatus('Deleted'), 'owner');
    expect(await now()).toBeNull();
  });
});

describe('the order of versions', () => {
  it('follows SemVer, with numbers of any length, and is total', () => {
    const ascending = [
      '0.0.0-0',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.0+a',
      '1.0.0+b-c',
      '1.2.0',
      '1.10.0',
      '9007199254740993.0.0',
      '9007199254740994.0.0',
      '123456789012345678901234567890.0.0',
    ];
    const shuffled = [...ascending].sort((left, right) => left.length - right.length).reverse();
    expect(shuffled.sort(compareVersions)).toEqual(ascending);
    for (const version of ascending) expect(compareVersions(version, version)).toBe(0);
  });

  it('distinguishes a pre-release from build metadata', () => {
    expect(['1.0.0-a', '1.0.0-a+b-c', '1.0.0+b-c', '1.0.0'].map(isPreRelease)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

it.skipIf(testDatabase)(
  'compares a version that becomes Active with the latest one, not with all of its node',
  async () => {
    for (let patch = 0; patch < 20; patch++) await addVersion(`1.0.${patch}`, toStatus('Active'));
    expect(await readLatest()).toBe('1.0.19');
    await addVersion('1.1.0', toStatus('Pending'));
    await addVersion('1.0.20', toStatus('Pending'));
    const { rows } = await observeReads(database, async () => {
      await moveVersion('1.1.0', toStatus('Active'), 'service');
      await moveVersion('1.0.20', toStatus('Active'), 'service');
    });
    expect(rows).toBeLessThan(20);
    const { latest_version_id } = await database.selectFrom('nodes').selectAll().executeTakeFirstOrThrow();
    expect(latest_version_id).toBe('1.1.0');
    expect(await readLatest()).toBe('1.1.0');
  },
);
