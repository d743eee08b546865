import type { Database } from '../database/database.js';
import { parseResults } from '../generation/results.js';
import { getInputKey, getResultKey } from '../generation/task-files.js';
import { ACTIVE_STATUSES } from '../generation/task-states.js';
import { getArchiveKey } from '../operation/signed-urls.js';

/** An object that a row of the database names. */
export interface ExpectedObject {
  readonly key: string;
  /** Bytes and SHA-256 (hex), where the row has them. */
  readonly size?: number | undefined;
  readonly sha256?: string | undefined;
  /** Absent objects that may be absent: inputs of tasks that have ended. */
  readonly optional?: boolean;
}

const PAGE = 500;

/** Lists every object that the database names, a page of rows at a time. */
export async function* listExpectedObjects(database: Database): AsyncGenerator<ExpectedObject> {
  yield* listArchives(database);
  yield* listTaskFiles(database);
}

async function* listArchives(database: Database): AsyncGenerator<ExpectedObject> {
  for (let after = ''; ; ) {
    const rows = await database
      .selectFrom('versions')
      .innerJoin('nodes', 'nodes.id', 'versions.node_id')
      .select(['versions.id', 'nodes.publisher_id as publisherId', 'versions.node_id as nodeId'])
      .select(['versions.version', 'versions.archive_size as size', 'versions.archive_sha256 as sha256'])
      .where('versions.id', '>', after)
      .where('versions.archive_sha256', 'is not', null)
      .orderBy('versions.id')
      .limit(PAGE)
      .execute();
    for (const { size, sha256, ...name } of rows)
      yield { key: getArchiveKey(name), size: size ?? undefined, sha256: sha256 ?? undefined };
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id as string;
  }
}

async function* listTaskFiles(database: Database): AsyncGenerator<ExpectedObject> {
  for (let after = ''; ; ) {
    const rows = await database
      .selectFrom('tasks')
      .select(['id', 'status', 'images', 'results'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE)
      .execute();
    for (const { id, status, images, results } of rows) {
      for (const { name, size, sha256 } of parseResults(results))
        yield { key: getResultKey(id, name), size, sha256 };
      const optional = !ACTIVE_STATUSES.includes(status);
      for (const name of JSON.parse(images) as string[]) yield { key: getInputKey(id, name), optional };
    }
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id as string;
  }
}
