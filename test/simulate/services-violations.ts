import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../src/service/database/database.js';
import type { ReceivedWebhook } from '../support/receiver.js';
import { findDisorder } from './webhook-order.js';

interface Left {
  readonly ids: readonly string[];
  readonly versions: readonly string[];
  readonly nodes: readonly string[];
  readonly received: readonly ReceivedWebhook[];
  readonly vendor: { readonly started: ReadonlySet<string> };
}

/** How long the jobs of a killed service may take, with its lease. */
const MAX_WAIT_MS = 240_000;

/** Waits for the jobs to end, and compares what is left with what was acknowledged. */
export async function findViolations(
  database: Database,
  { ids, versions, nodes, received, vendor }: Left,
): Promise<string[]> {
  const violations: string[] = [];
  const begun = performance.now();
  const active = database
    .selectFrom('jobs')
    .select(['kind', 'key', 'last_error'])
    .where('kind', 'not in', ['prune', 'abandon-version', 'forget-inputs']);
  let left = await active.execute();
  while (left.length > 0 && performance.now() - begun < MAX_WAIT_MS) {
    await pause(500);
    left = await active.execute();
  }
  if (left.length > 0) violations.push(`jobs that do not end: ${JSON.stringify(left.slice(0, 5))}`);
  const rows = await database.selectFrom('tasks').select(['id', 'status']).execute();
  const credits = await database.selectFrom('credits').select(['task_id', 'kind']).execute();
  if (new Set(ids).size !== ids.length) violations.push('two requests were answered with the same task');
  if (rows.length !== ids.length) violations.push(`${rows.length} tasks, but ${ids.length} were asked for`);
  if (vendor.started.size !== ids.length)
    violations.push(`the vendor started ${vendor.started.size} tasks, not ${ids.length}`);
  for (const id of ids) {
    const status = rows.find((row) => row.id === id)?.status;
    if (status !== 'COMPLETED') violations.push(`task ${id} is ${status}`);
    const kinds = credits.filter(({ task_id }) => task_id === id).map(({ kind }) => kind);
    if (kinds.join() !== 'charge') violations.push(`credits of ${id}: ${kinds}`);
    const disorder = findDisorder(received, { id, kind: 'image', status: 'COMPLETED' });
    if (disorder) violations.push(disorder);
  }
  const published = await database.selectFrom('versions').select(['version', 'status']).execute();
  for (const version of versions) {
    const status = published.find((row) => row.version === version)?.status;
    if (status !== 'NodeVersionStatusActive') violations.push(`version ${version} is ${status}`);
  }
  const stored = await database.selectFrom('nodes').select(['id', 'details']).execute();
  for (const id of nodes) {
    const { description, author } = JSON.parse(stored.find((row) => row.id === id)?.details ?? '{}');
    if (description !== 'told' || author !== 'ann') violations.push(`node ${id}: ${description}, ${author}`);
  }
  const keys = await database.selectFrom('keys').select('use').orderBy('use').execute();
  if (keys.map(({ use }) => use).join() !== 'owner,statement,token,url')
    violations.push(`keys: ${keys.map(({ use }) => use).join()}`);
  return violations;
}
