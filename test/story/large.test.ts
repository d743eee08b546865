import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { homeForTest, startRegen } from '../support/cli.js';
import { packForTest } from '../support/packs.js';
import { folderForTest } from '../support/service.js';

const preload = `--import=${pathToFileURL('test/support/report-memory.mjs').href}`;
const mostMemory = 200_000_000;

/** 2,000 files of 100 kB, each of its own bytes. */
function largePack(): string {
  const pack = packForTest();
  const block = randomBytes(100_000);
  for (let index = 0; index < 2_000; index++) {
    const folder = join(pack, `part${index % 20}`);
    mkdirSync(folder, { recursive: true });
    block.writeUInt32LE(index, 0);
    writeFileSync(join(folder, `weights${index}.bin`), block);
  }
  return pack;
}

/** Publishes the pack on a service of its own. @returns the most memory that each side held, in bytes */
async function measureMemory(pack: string): Promise<{ client: number; service: number }> {
  const home = homeForTest();
  const reports = folderForTest();
  const remembering = (name: string) => ({ NODE_OPTIONS: preload, MEMORY_REPORT: join(reports, name) });
  const readMemory = (name: string) => Number(readFileSync(join(reports, name), 'utf8'));

  const service = startRegen(['serve', '--port', '0'], { home, env: remembering('service') });
  await new Promise((ready) => service.child.stdout?.once('data', ready));
  const published = await startRegen(['version', 'publish', pack], {
    home,
    env: remembering('client'),
  }).ended;
  expect(published).toMatchObject({ exit: 0 });
  expect(published.stdout).toContain('NodeVersionStatusActive');
  expect(published.stderr).toContain('2002 files');
  await startRegen(['serve', 'stop'], { home }).ended;
  await service.ended;

  return { client: readMemory('client'), service: readMemory('service') };
}

test('200 MB in 2,000 files are published with less than 200 MB of memory on each side', async () => {
  const { client, service } = await measureMemory(largePack());
  expect(client).toBeLessThan(mostMemory);
  expect(service).toBeLessThan(mostMemory);
});
