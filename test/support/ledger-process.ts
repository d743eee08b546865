import { getOwnIdentity } from '../../src/disk/process-identity.js';
import { Ledger } from '../../src/flows/tasks/ledger.js';

/** Counts up one figure of a ledger entry, and prints how often it was lost: `<folder> <id> <credits|seed> <count>`. */
const [folder, id, field, count] = process.argv.slice(2) as [string, string, 'credits' | 'seed', string];

const ledger = new Ledger(folder, Date.now, getOwnIdentity(), folder);
let lost = 0;
for (let value = 1; value <= Number(count); value += 1) {
  await ledger.change(id, { [field]: value });
  if (ledger.read(id)?.[field] !== value) lost += 1;
}
process.stdout.write(String(lost));
