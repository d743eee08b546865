import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedRegistry } from '../../../bench/seed-registry.js';
import { type RunningService, startService } from '../../../src/service/serve.js';
import { observeReads } from '../../support/query-plans.js';
import { type Answered, ask } from '../../support/service.js';

const NODES = 100_000;

/** What ends with the page, the limit of the count, or the matches of the search index. */
const BOUNDED = [
  /^SCAN (found|some)$/,
  /^SCAN node_search VIRTUAL TABLE INDEX \d+:.*M/,
  /^SCAN host_nodes USING (COVERING )?INDEX host_nodes_listed(_banned)?$/,
];

/** Reads that anyone may ask for. */
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

const isOfRequest = /^(?!.*\bjobs\b)/s;

describe('with 100,000 nodes', () => {
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
    let body: Answered;
    const read = async () => {
      ({ body } = await ask(service.url + path));
    };
    const { plans, queries, rows } = await observeReads(service.context.database, read, isOfRequest);
    expect(plans.length).toBeGreaterThan(0);
    const scans = plans.filter((step) => step.startsWith('SCAN') && !BOUNDED.some((one) => one.test(step)));
    expect(scans).toEqual([]);
    // One row for each item of the answer, and a few for the count and for what they belong to.
    const lists = [body, ...Object.values(body)].map((value) => (Array.isArray(value) ? value.length : 1));
    expect(rows).toBeLessThanOrEqual(Math.max(...lists) + 4);
    expect(queries).toBeLessThanOrEqual(4);
  });
});
