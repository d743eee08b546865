import { describe, expect, it } from 'vitest';
import { registryForFile } from '../../support/registry.js';
import type { Answered } from '../../support/service.js';

const MB = 1024 ** 2;
const registry = registryForFile({ quotas: { versionsPerDay: 1000 } });
const long = 'x'.repeat(100_000);

/** Makes all versions public, and each the latest of its node. */
async function showAll(): Promise<void> {
  await registry().change(async (tx) => {
    await tx.updateTable('versions').set({ status: 'NodeVersionStatusActive' }).execute();
    await tx
      .updateTable('nodes')
      .set(({ selectFrom }) => ({
        latest_version_id: selectFrom('versions')
          .select('versions.id')
          .whereRef('versions.node_id', '=', 'nodes.id')
          .orderBy('versions.version', 'desc')
          .limit(1),
      }))
      .execute();
  });
}

describe('a list whose items have long texts', () => {
  it('has every version of a node, the older ones without what their publisher wrote', async () => {
    for (let at = 0; at < 100; at += 1)
      await registry().publish('many', `1.0.${at}`, { node_version: { changelog: long, deprecated: true } });
    await showAll();
    const { body } = await registry().as('guest', 'GET', '/nodes/many/versions');
    expect(JSON.stringify(body).length).toBeLessThan(9 * MB);
    expect(body.map(({ version }: Answered) => version)).toEqual(
      Array.from({ length: 100 }, (_, at) => `1.0.${99 - at}`),
    );
    const whole = body.filter(({ changelog }: Answered) => changelog === long);
    expect(whole.length).toBeGreaterThan(75);
    // What is not known is not said.
    expect(body.at(-1)).toMatchObject({ version: '1.0.0', status: 'NodeVersionStatusActive' });
    expect(body.at(-1).deprecated).toBeUndefined();
    const alone = await registry().ok('guest', 'GET', '/nodes/many/versions/1.0.0');
    expect([alone.changelog, alone.deprecated]).toEqual([long, true]);
  });

  it('can be walked with pages of any size, and has all texts in smaller ones', async () => {
    const { ok, publish, as } = registry();
    const ids = Array.from({ length: 110 }, (_, at) => `walked-${String(at).padStart(3, '0')}`);
    for (const id of ids)
      await publish(id, '1.0.0', { node: { tags: ['walked'] }, node_version: { changelog: long } });
    await publish('walked-short', '1.0.0', {
      node: { tags: ['walked'] },
      node_version: { changelog: 'Short' },
    });
    await showAll();
    for (const who of ['guest', 'ann'] as const) {
      const found: Answered[] = [];
      for (let page = 1, last = 1; page <= last; page += 1) {
        const path = who === 'ann' ? '/publishers/acme/nodes/v2?' : '/nodes?search=walked&';
        const answer = await as(who, 'GET', `${path}limit=100&page=${page}`);
        expect(JSON.stringify(answer.body).length).toBeLessThan(9 * MB);
        last = answer.body.totalPages;
        found.push(...answer.body.nodes.filter(({ id }: Answered) => id.startsWith('walked-')));
      }
      expect(found.map(({ id }) => id)).toEqual([...ids, 'walked-short']);
      expect(found.every(({ latest_version }) => latest_version.version === '1.0.0')).toBe(true);
      expect(found[0].latest_version.changelog).toBeUndefined();
      expect(found.at(-1).latest_version.changelog).toBe('Short');
    }
    const { nodes } = await ok('guest', 'GET', '/nodes?search=walked&limit=10');
    expect(nodes.every(({ latest_version }: Answered) => latest_version.changelog === long)).toBe(true);
  });
});

it('usage is refused rather than cut where it has too many rows', async () => {
  const { as, ok, change } = registry();
  const { id: user_id } = await ok('eve', 'GET', '/users/me');
  const at = '2026-01-05T00:00:00.000Z';
  const shared = {
    user_id,
    kind: 'charge' as const,
    amount: 1,
    at,
    month: '2026-01',
    operation: 'video.extend' as const,
  };
  await change(async (tx) => {
    for (let start = 0; start < 30_001; start += 500) {
      const rows = Array.from({ length: Math.min(500, 30_001 - start) }, (_, row) => {
        const name = `${start + row}`;
        return { ...shared, task_id: name, model: name, key_id: null };
      });
      await tx.insertInto('credits').values(rows).execute();
    }
  });
  const days = 'from=2026-01-01&to=2026-01-31';
  const refused = await as('eve', 'GET', `/users/usage?${days}`);
  expect([refused.status, refused.body.details[0].path]).toEqual([400, 'by']);
  const summed = await ok('eve', 'GET', `/users/usage?${days}&by=day`);
  expect(summed.rows).toMatchObject([{ day: '2026-01-05', tasks: 30_001, credits: 30_001 }]);
});
