import { DefaultQueryCompiler } from 'kysely';
import { expect, it, vi } from 'vitest';
import { copyingEngine } from '../support/copying-engine.js';
import { zipOf } from '../support/create-zip.js';
import { startedTask, taskAt } from '../support/generation.js';
import { registryForFile } from '../support/registry.js';
import { publisherForTest, register, serviceForTest, upload, versionOf } from '../support/service.js';

const registry = registryForFile({}, { engines: { image: copyingEngine() } });

/** The statements that are built during `work`: building one takes longer than running it. */
async function listBuilt(work: () => Promise<unknown>): Promise<string[]> {
  const building = vi.spyOn(DefaultQueryCompiler.prototype, 'compileQuery');
  try {
    await work();
    return building.mock.results.map(({ value }) => value.sql);
  } finally {
    building.mockRestore();
  }
}

it('builds no statement for a task once another one like it has ended', async () => {
  const { url, tokens } = registry();
  const ann = { url, token: tokens.ann };
  const runOne = async () => {
    const { generated } = await taskAt(ann, await startedTask(ann));
    await fetch(generated[0] as string);
  };
  await runOne();
  await runOne();
  expect(await listBuilt(runOne)).toEqual([]);
});

it('builds no statement for a publish once another one like it has its verdict', async () => {
  const publisher = await publisherForTest(await serviceForTest());
  const archive = await zipOf({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
  const publish = async (version: string) => {
    await upload((await register(publisher, version)).signedUrl, archive);
    const readStatus = async () => (await versionOf(publisher, version)).status;
    await expect.poll(readStatus).toBe('NodeVersionStatusActive');
  };
  for (const version of ['1.0.0', '1.0.1']) await publish(version);
  expect(await listBuilt(() => publish('1.0.2'))).toEqual([]);
});
