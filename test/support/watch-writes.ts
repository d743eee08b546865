import { existsSync } from 'node:fs';
import type { KyselyPlugin } from 'kysely';
import type { Tx } from '../../src/service/database/database.js';
import type { Context } from '../../src/service/operation/context.js';

/**
 * Reports each durable write of a service right after it: the tables that a transaction changed, or a file.
 * @param refuses whether a write fails instead, as on a full disk
 */
export function watchWrites(
  context: Context,
  wrote: (what: string) => void,
  refuses: () => boolean = () => false,
): void {
  watchDatabase(context, wrote, refuses);
  watchStorage(context, wrote, refuses);
}

const diskFull = () => Object.assign(new Error('The disk is full.'), { code: 'ENOSPC' });

function watchDatabase({ database }: Context, wrote: (what: string) => void, refuses: () => boolean): void {
  const begin = database.transaction.bind(database);
  database.transaction = () => {
    const transaction = begin();
    const execute = transaction.execute.bind(transaction);
    transaction.execute = async (work) => {
      const changes: string[] = [];
      const result = await execute(async (tx) => {
        const worked = await work(recordChanges(tx, changes));
        if (changes.length > 0 && refuses()) throw diskFull();
        return worked;
      });
      if (changes.length > 0) wrote(changes.join(', '));
      return result;
    };
    return transaction;
  };
}

/** The same transaction, which records the tables it changes. */
function recordChanges(tx: Tx, changes: string[]): Tx {
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      const [, verb] = /^(Insert|Update|Delete)QueryNode$/.exec(node.kind) ?? [];
      const table = /"identifier":\{"kind":"IdentifierNode","name":"(\w+)"/.exec(JSON.stringify(node))?.[1];
      if (verb) changes.push(`${verb.toLowerCase()} ${table}`);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return tx.withPlugin(plugin) as Tx;
}

function watchStorage({ storage }: Context, wrote: (what: string) => void, refuses: () => boolean): void {
  const [write, remove] = [storage.write.bind(storage), storage.remove.bind(storage)];
  // Without the task and its attempt.
  const shortenKey = (key: string) => key.replace(/^[^/]+\/[^/]+\/(results\/)?([0-9a-f-]{36}\/)?/, '$1');
  Object.assign(storage, {
    write: async (...given: Parameters<typeof write>) => {
      if (refuses()) throw diskFull();
      const object = await write(...given);
      wrote(`write ${shortenKey(given[0])}`);
      return object;
    },
    remove: async (key: string) => {
      const isThere = existsSync((await storage.borrow(key)).path);
      await remove(key);
      if (isThere) wrote(`remove ${shortenKey(key)}`);
    },
  });
}
