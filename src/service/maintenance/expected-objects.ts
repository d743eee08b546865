import type { NotNull } from 'kysely';
import type { Database } from '../database/database.js';
import { getResultKey, parseResults } from '../generation/results.js';
import { getInputKey } from '../generation/task-files.js';
import { ACTIVE_STATUSES } from '../generation/task-states.js';

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
  yield* listUplinkArchives(database);
  yield* listTaskFiles(database);
}

async function* listArchives(database: Database): AsyncGenerator<ExpectedObject> {
  for (let after = ''; ; ) {
    const rows = await database
      .selectFrom('versions')
      .select(['id', 'archive_key as key', 'archive_size as size', 'archive_sha256 as sha256'])
      .where('id', '>', after)
      .where('archive_key', 'is not', null)
      .$narrowType<{ key: NotNull }>()
      .orderBy('id')
      .limit(PAGE)
      .execute();
    for (const { key, size, sha256 } of rows)
      yield { key, size: size ?? undefined, sha256: sha256 ?? undefined };
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id as string;
  }
}

async function* listUplinkArchives(database: Database): AsyncGenerator<ExpectedObject> {
  for (let after = ''; ; ) {
    const rows = await database
      .selectFrom('uplink_versions')
      .select(['archive_key as key', 'archive_size as size', 'archive_sha256 as sha256'])
      .where('archive_key', '>', after)
      .orderBy('archive_key')
      .limit(PAGE)
      .execute();
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.key as string;
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
      for (const result of parseResults(results))
        yield { key: getResultKey(id, result), size: result.size, sha256: result.sha256 };
      const optional = !ACTIVE_STATUSES.includes(status);
      for (const name of JSON.parse(images) as string[]) yield { key: getInputKey(id, name), optional };
    }
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id as string;
  }
}
