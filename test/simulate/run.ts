import { parseArgs } from 'node:util';
import { setup } from '../support/build.js';
import { explainMissingPostgres } from '../support/postgres-server.js';
import { runKills } from './kills.js';
import { runProxied } from './proxied.js';
import { runSeed } from './run-seed.js';
import { runServices } from './services.js';
import { measureWaiting } from './waiting.js';

// npm run simulate -- --seeds N [--seed S]: seeded faults in one process
// npm run simulate -- --services N [--tasks N] [--minutes N] [--seed S]: N services on one PostgreSQL server, which are
//   all killed while a backup is made
// npm run simulate -- --proxied: two services behind nginx, one of which is started again and killed
// npm run simulate -- --waiting N [--minutes N]: what N tasks that wait at a vendor cost
// npm run simulate -- --kills N [--seed S]: N kills of the service and of the command line, in processes

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    kills: { type: 'string' },
    waiting: { type: 'string' },
    services: { type: 'string' },
    proxied: { type: 'boolean' },
    tasks: { type: 'string', default: '200' },
    minutes: { type: 'string' },
  },
});
const first = Number(values.seed);

if (values.services !== undefined || values.proxied) {
  const missing = explainMissingPostgres(false);
  if (missing) {
    console.log(`Services on PostgreSQL cannot be simulated: ${missing}.`);
    process.exit();
  }
  await setup();
  if (values.proxied) {
    console.log(await runProxied({ clients: 16, requests: 2_000, waitsForJobs: true }));
    process.exit();
  }
  const { services, tasks, minutes = 0 } = values;
  const numbers = { services: Number(services), tasks: Number(tasks), minutes: Number(minutes) };
  console.log(await runServices({ ...numbers, seed: first, report: console.log }));
  process.exit();
}

if (values.waiting !== undefined) {
  await setup();
  const numbers = { tasks: Number(values.waiting), minutes: Number(values.minutes ?? 1) };
  for (const onPostgres of explainMissingPostgres(false) ? [false] : [false, true])
    await measureWaiting({ ...numbers, onPostgres, report: console.log });
  process.exit();
}

if (values.kills !== undefined) {
  await setup();
  console.log(await runKills({ kills: Number(values.kills), seed: first, report: console.log }));
  process.exit();
}

const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => first + at);
let failed = 0;
for (const seed of seeds) {
  try {
    console.log(`seed ${seed}: ${await runSeed(seed)}`);
  } catch (error) {
    failed += 1;
    console.log(`seed ${seed} failed: ${error}\nAgain: npm run simulate -- --seeds 1 --seed ${seed}`);
  }
}
console.log(`${seeds.length} seeds, ${failed} with a violation`);
process.exit(failed > 0 ? 1 : 0);
