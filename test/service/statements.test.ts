import { DefaultQueryCompiler } from 'kysely';
import { expect, it, vi } from 'vitest';
import { createCopyingEngine } from '../support/copying-engine.js';
import { createZip } from '../support/create-zip.js';
import { startTask, waitForTask } from '../support/generation.js';
import { registryForFile } from '../support/registry.js';
import {
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../support/service.js';

const registry = registryForFile({}, { engines: { image: createCopyingEngine() } });

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
    const { generated } = await waitForTask(ann, await startTask(ann));
    await fetch(generated[0] as string);
  };
  await runOne();
  await runOne();
  expect(await listBuilt(runOne)).toEqual([]);
});

it('builds no statement for a publish once another one like it has its verdict', async () => {
  const publisher = await publisherForTest(await serviceForTest());
  const archive = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
  const publish = async (version: string) => {
    await uploadArchive((await registerVersion(publisher, version)).signedUrl, archive);
    const readStatus = async () => (await readVersion(publisher, version)).status;
    await expect.poll(readStatus).toBe('NodeVersionStatusActive');
  };
  for (const version of ['1.0.0', '1.0.1']) await publish(version);
  expect(await listBuilt(() => publish('1.0.2'))).toEqual([]);
});
