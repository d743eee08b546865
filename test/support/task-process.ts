import { writeSync } from 'node:fs';
import type { KyselyPlugin } from 'kysely';
import type { Context, Tx } from '../../src/service/context.js';
import { startService } from '../../src/service/serve.js';
import { copyingEngine } from './copying-engine.js';

// A service in a process of its own that dies right after the n-th write of its first task, as a power cut would end it:
// its arguments are the configuration as JSON, n, and, where only some writes count, a part of their names. On stdout it
// says where it is and each write.

const [configuration = '{}', last = '0', part = ''] = process.argv.slice(2);
let count = 0;

function wrote(what: string): void {
  // The first thing written for a task is its image.
  if (count === 0 && !part && !what.startsWith('stage')) return;
  if (part && !what.includes(part)) return;
  count += 1;
  tell({ wrote: what });
  if (count === Number(last)) process.kill(process.pid, 'SIGKILL');
}

function tell(message: object): void {
  writeSync(1, `${JSON.stringify(message)}\n`);
}

function watchDatabase({ database }: Context): void {
  const begin = database.transaction.bind(database);
  database.transaction = () => {
    const transaction = begin();
    const execute = transaction.execute.bind(transaction);
    transaction.execute = async (work) => {
      const changes: string[] = [];
      const result = await execute((tx) => work(noting(tx, changes)));
      if (changes.length > 0) wrote(changes.join(', '));
      return result;
    };
    return transaction;
  };
}

/** The same transaction, which notes the tables it changes. */
function noting(tx: Tx, changes: string[]): Tx {
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

function watchStorage({ storage }: Context): void {
  const [stage, remove] = [storage.stage.bind(storage), storage.remove.bind(storage)];
  const nameOf = (key: string) => key.split('/').slice(2).join('/');
  Object.assign(storage, {
    stage: async (...given: Parameters<typeof stage>) => {
      const staged = await stage(...given);
      wrote(`stage ${nameOf(given[0])}`);
      const commit = async () => {
        await staged.commit();
        wrote(`commit ${nameOf(given[0])}`);
      };
      return { ...staged, commit };
    },
    remove: async (key: string) => {
      await remove(key);
      wrote(`remove ${nameOf(key)}`);
    },
  });
}

const image = copyingEngine(() => wrote('the engine begins'));
const service = await startService(JSON.parse(configuration), { engines: { image } });
watchDatabase(service.context);
watchStorage(service.context);
tell({ url: service.url, ownerToken: service.ownerToken });
