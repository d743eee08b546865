import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedRegistry } from '../../../bench/seed-registry.js';
import { type RunningService, startService } from '../../../src/service/serve.js';
import { plansOf } from '../../support/query-plans.js';
import { ask } from '../../support/service.js';

const NODES = 1000;

/** What ends with the page, the limit of the count, or the matches of the search index. */
const BOUNDED = [
  /^SCAN (found|some)$/,
  /^SCAN node_search VIRTUAL TABLE INDEX \d+:.*M/,
  /^SCAN host_nodes USING (COVERING )?INDEX host_nodes_listed(_banned)?$/,
];

/** Reads that anyone may ask for; SQLite keeps no statistics here, so the plans are the same in a store of any size. */
const reads = [
  '/nodes',
  '/nodes?page=100',
  '/nodes?search=light',
  '/nodes?search=light+mask&page=2',
  '/nodes?search=3',
  '/nodes/node-7',
  '/nodes/NODE-7',
  '/nodes/node-7/versions',
  '/nodes/node-7/versions/1.4.0',
  '/nodes/node-7/versions/1.4.0/host-nodes',
  '/nodes/node-7/versions/1.4.0/host-nodes/Definition19',
  '/nodes/node-7/install',
  '/host-nodes',
  '/host-nodes?node_id=node-7',
  '/host-nodes?node_version=1.4.0',
  '/host-nodes?node_version=1.4.0&host_node_name=Definition19',
  '/host-nodes?host_node_name=Definition19',
  '/publishers/publisher-1',
];

describe('with a seeded registry', () => {
  let service: RunningService;
  const folder = mkdtempSync(join(tmpdir(), 'regen-test-'));
  beforeAll(async () => {
    await seedRegistry(folder, NODES);
    service = await startService({ data: folder }, { log: () => {} });
  });
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(reads)('%s reads no table from one end to the other', async (path) => {
    const isOfRequest = /^(?!.*\bjobs\b)/s;
    const plans = await plansOf(service.context.database, () => ask(service.url + path), isOfRequest);
    expect(plans.length).toBeGreaterThan(0);
    const scans = plans.filter((step) => step.startsWith('SCAN') && !BOUNDED.some((one) => one.test(step)));
    expect(scans).toEqual([]);
  });
});
