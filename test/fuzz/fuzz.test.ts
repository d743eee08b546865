import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runTarget, type Target } from './target.js';
import { targets } from './targets.js';

// The same cases every time; `npm run fuzz` tries others.
const SEED = 20_260_131;
const cases: Readonly<Record<string, number>> = {
  requests: 25,
  arguments: 150,
  archives: 400,
  python: 40,
  packs: 5,
  images: 100,
  webhooks: 300,
  answers: 40,
  sizes: 3,
  begun: 8,
};

it('has some cases of each target', () => {
  expect(Object.keys(cases)).toEqual(Object.keys(targets));
});

it.each(Object.keys(cases))('survives generated %s', async (name) => {
  const target = (await targets[name]?.()) as Target;
  try {
    const details = await runTarget(target, { seed: SEED, cases: cases[name] });
    const again = `npm run fuzz -- --only ${name} --seed ${SEED} --path ${details.counterexamplePath}`;
    if (details.failed)
      throw new Error(`${fc.defaultReportMessage(details)}\n${again}`, { cause: details.errorInstance });
    expect(details.numRuns).toBe(cases[name]);
  } finally {
    await target.close?.();
  }
});

it('reports the smallest case that fails', async () => {
  const target: Target<number[]> = {
    cases: fc.array(fc.nat(1000)),
    run: async (numbers) => {
      if (numbers.some((number) => number > 500)) throw new Error('too large');
    },
  };
  const details = await runTarget(target as Target, { seed: SEED, cases: 1000 });
  expect(details.counterexample).toEqual([[501]]);
});
