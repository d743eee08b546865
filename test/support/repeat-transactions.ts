import { TransactionBuilder } from 'kysely';
import type { Tx } from '../../src/service/database/database.js';

// With TEST_REPEATS=1 every transaction runs twice, and the first run is rolled back, as a conflict with another
// service would. What a transaction does outside of the database is then done twice, and tests of it fail.

class RolledBack extends Error {}

type Work = (tx: Tx) => Promise<unknown>;

// Each file of tests loads this, into the same process.
const isDone = Symbol.for('regen.repeats') in TransactionBuilder;

if (process.env.TEST_REPEATS && !isDone) {
  Object.assign(TransactionBuilder, { [Symbol.for('regen.repeats')]: true });
  const { prototype } = TransactionBuilder as unknown as {
    prototype: { execute(work: Work): Promise<unknown> };
  };
  const { execute } = prototype;
  prototype.execute = async function (work) {
    const runOnce = async (tx: Tx) => {
      await work(tx);
      throw new RolledBack();
    };
    await execute.call(this, runOnce).catch((error) => {
      if (!(error instanceof RolledBack)) throw error;
    });
    return execute.call(this, work);
  };
}
