import { parseArgs } from 'node:util';
import { runSeed } from './run-seed.js';

// npm run simulate -- --seeds N [--seed S]

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
});

const first = Number(values.seed);
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
