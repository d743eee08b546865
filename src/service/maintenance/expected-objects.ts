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
  const archives = readPages('id', (after) =>
    database
      .selectFrom('versions')
      .select(['id', 'archive_key as key', 'archive_size as size', 'archive_sha256 as sha256'])
      .where('id', '>', after)
      .where('archive_key', 'is not', null)
      .$narrowType<{ key: NotNull }>()
      .orderBy('id'),
  );
  for await (const { key, size, sha256 } of archives)
    yield { key, size: size ?? undefined, sha256: sha256 ?? undefined };
  yield* readPages('key', (after) =>
    database
      .selectFrom('uplink_versions')
      .select(['archive_key as key', 'archive_size as size', 'archive_sha256 as sha256'])
      .where('archive_key', '>', after)
      .orderBy('archive_key'),
  );
  const tasks = readPages('id', (after) =>
    database
      .selectFrom('tasks')
      .select(['id', 'status', 'images', 'results'])
      .where('id', '>', after)
      .orderBy('id'),
  );
  for await (const { id, status, images, results } of tasks) {
    for (const result of parseResults(results))
      yield { key: getResultKey(id, result), size: result.size, sha256: result.sha256 };
    const optional = !ACTIVE_STATUSES.includes(status);
    for (const name of JSON.parse(images) as string[]) yield { key: getInputKey(id, name), optional };
  }
}

interface Pages<Row> {
  limit(rows: number): { execute(): Promise<Row[]> };
}

/** @param place the column that the rows are ordered by */
async function* readPages<Row>(place: keyof Row, select: (after: string) => Pages<Row>): AsyncGenerator<Row> {
  for (let after = ''; ; ) {
    const rows = await select(after).limit(PAGE).execute();
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.[place] as string;
  }
}
