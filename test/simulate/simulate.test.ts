import { expect, it } from 'vitest';
import type { RunningService } from '../../src/service/serve.js';
import { runSeed } from './run-seed.js';

const seeds = Array.from({ length: 8 }, (_, at) => at + 1);

it.each(seeds)('nothing acknowledged is lost or paid twice in the world of seed %i', async (seed) => {
  await runSeed(seed);
});

it.each<[string, (service: RunningService) => Promise<unknown>, RegExp]>([
  ['charge', ({ context }) => context.database.deleteFrom('credits').execute(), /credits of/],
  ['task', ({ context }) => context.database.deleteFrom('tasks').execute(), /not found|There is no task/i],
])('a lost %s is noticed', async (_, spoil, message) => {
  await expect(runSeed(1, spoil)).rejects.toThrow(message);
});
