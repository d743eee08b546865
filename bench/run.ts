import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createDeflateRaw } from 'node:zlib';
import { createArchive } from '../src/pack/archive.js';
import { chooseFiles } from '../src/pack/files.js';
import { startService } from '../src/service/serve.js';

/**
 * Each measurement is a ratio to a yardstick, because machines differ and are noisy. Both run in turn; the
 * median of the ratios is printed with the fastest time of each.
 */
interface Measurement {
  readonly subject: string;
  readonly yardstick: string;
  readonly runSubject: () => Promise<void> | void;
  readonly runYardstick: () => Promise<void> | void;
  readonly rounds: number;
}

const scratch = mkdtempSync(join(tmpdir(), 'regen-bench-'));
const service = await startService({}, { log: () => {} });
const plain = createServer((_, answer) => answer.end('{"status":"ok"}')).listen(0, '127.0.0.1');
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

const measurements: readonly Measurement[] = [
  {
    subject: 'regen --help',
    yardstick: 'node -e 0',
    runSubject: () => runNode('bin/regen.js', '--help'),
    runYardstick: () => runNode('-e', '0'),
    rounds: 15,
  },
  {
    subject: 'packing 50 MB in 500 files',
    yardstick: 'deflating the same bytes with zlib',
    runSubject: packFolder,
    runYardstick: deflateFiles,
    rounds: 5,
  },
  {
    subject: '300 reads of /health from the service',
    yardstick: '300 from a bare node:http server',
    runSubject: () => readMany(`${service.url}/health`),
    runYardstick: () => readMany(`http://127.0.0.1:${(plain.address() as AddressInfo).port}/`),
    rounds: 7,
  },
];

function runNode(...args: string[]): void {
  spawnSync(process.execPath, args, { env, stdio: 'ignore' });
}

const folder = join(scratch, 'pack');
mkdirSync(folder);
const paths = Array.from({ length: 500 }, (_, index) => join(folder, `file${index}.txt`));
for (const path of paths) writeFileSync(path, randomBytes(50_000).toString('hex'));

async function packFolder(): Promise<void> {
  const { files } = await chooseFiles(folder);
  await createArchive(files, join(scratch, 'ours.zip'));
}

async function deflateFiles(): Promise<void> {
  for (const path of paths) {
    await pipeline(createReadStream(path), createDeflateRaw(), createWriteStream(join(scratch, 'theirs')));
  }
}

async function readMany(url: string): Promise<void> {
  for (let count = 0; count < 300; count++) await (await fetch(url)).text();
}

async function measureMs(action: () => Promise<void> | void): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

for (const { subject, yardstick, runSubject, runYardstick, rounds } of measurements) {
  const pairs: [number, number][] = [];
  for (let round = 0; round < rounds; round++)
    pairs.push([await measureMs(runSubject), await measureMs(runYardstick)]);
  const ratios = pairs.map(([a, b]) => a / b).sort((a, b) => a - b);
  const fastest = (side: 0 | 1) => Math.min(...pairs.map((pair) => pair[side])).toFixed(1);
  const ratio = (ratios[Math.floor(rounds / 2)] as number).toFixed(2);
  console.log(`${subject}: ${ratio} times ${yardstick} (${fastest(0)} ms to ${fastest(1)} ms)`);
}

plain.close();
await service.stop();
rmSync(scratch, { recursive: true, force: true });
