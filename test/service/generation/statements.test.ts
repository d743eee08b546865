import { DefaultQueryCompiler } from 'kysely';
import { expect, it, vi } from 'vitest';
import { copyingEngine } from '../../support/copying-engine.js';
import { startedTask, taskAt } from '../../support/generation.js';
import { registryForFile } from '../../support/registry.js';

const registry = registryForFile({}, { engines: { image: copyingEngine() } });

it('builds no statement for a task once another one like it has ended', async () => {
  const { url, tokens } = registry();
  const ann = { url, token: tokens.ann };
  const runOne = async () => {
    const { generated } = await taskAt(ann, await startedTask(ann));
    await fetch(generated[0] as string);
  };
  await runOne();
  await runOne();
  const building = vi.spyOn(DefaultQueryCompiler.prototype, 'compileQuery');
  try {
    await runOne();
    expect(building.mock.results.map(({ value }) => value.sql)).toEqual([]);
  } finally {
    building.mockRestore();
  }
});
