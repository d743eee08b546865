import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { setup } from '../support/build.js';
import { runTarget, type Target } from './target.js';

// npm run fuzz -- --minutes N [--seed S] [--only requests,arguments] [--cases N] [--path P]

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    only: { type: 'string' },
    cases: { type: 'string' },
    path: { type: 'string' },
  },
});

await setup();
const { targets } = await import('./targets.js');
const names = values.only?.split(',') ?? Object.keys(targets);
const unknown = names.filter((name) => !Object.hasOwn(targets, name));
if (unknown.length > 0) {
  console.error(`There is no target ${unknown.join(', ')}. Targets: ${Object.keys(targets).join(', ')}.`);
  process.exit(2);
}

const seed = Number(values.seed);
const cases = values.cases === undefined ? undefined : Number(values.cases);
const timeMs = cases === undefined ? (Number(values.minutes) * 60_000) / names.length : undefined;
for (const name of names) {
  const target = (await targets[name]?.()) as Target;
  const details = await runTarget(target, { seed, cases, timeMs, path: values.path });
  await target.close?.();
  console.log(`${name}: ${details.numRuns} cases, seed ${seed}. ${target.summary?.() ?? ''}`);
  if (details.failed) {
    console.log(fc.defaultReportMessage(details));
    console.log(details.errorInstance);
    console.log(`Again: npm run fuzz -- --only ${name} --seed ${seed} --path ${details.counterexamplePath}`);
    process.exitCode = 1;
  }
}
process.exit();
