import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, test } from 'vitest';
import { homeWithService, type Ran, startRegen, stopEmbedded } from '../support/cli.js';
import { pixel } from '../support/generation.js';
import { folderForTest } from '../support/service.js';

const jobs = 16;
const kills = 3;

/** Waits until a batch has told some more results, or ended. */
function waitForResults(child: ChildProcess, count: number): Promise<void> {
  return new Promise((enough) => {
    let left = count;
    child.stdout?.on('data', (part: Buffer) => {
      left -= part.toString().split('\n').length - 1;
      if (left <= 0) enough();
    });
    child.once('close', () => enough());
  });
}

/** Results of earlier rounds are printed before the service is started again. */
function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ESRCH');
  }
}

test(`${jobs} jobs whose client and service are killed ${kills} times each are ${jobs} results, each charged once`, async () => {
  const home = homeWithService();
  const data = join(home, '.local/share/regen');
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'photo.png'), Buffer.from(pixel, 'base64'));
  // Half of them ask for the very same.
  const lines = Array.from({ length: jobs }, (_, at) => ({
    command: 'image relight',
    image: 'photo.png',
    ...(at % 2 === 0 && { prompt: `light ${at}` }),
    output: 'out/{line}.png',
  }));
  writeFileSync(join(cwd, 'jobs.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const batch = () => startRegen(['batch', 'jobs.jsonl', '--ndjson'], { cwd, home });
  const some = () => 1 + Math.floor((Math.random() * jobs) / (3 * kills));

  for (let round = 0; round < kills; round++) {
    const { child, ended } = batch();
    await waitForResults(child, some());
    killIfRunning(JSON.parse(readFileSync(join(data, 'service.json'), 'utf8')).pid);
    await waitForResults(child, some());
    child.kill('SIGKILL');
    await ended;
  }
  let last: Ran;
  let runs = 0;
  do last = await batch().ended;
  while (last.exit === 9 && ++runs < 20);
  const journal = readFileSync(join(cwd, 'jobs.jsonl.state'), 'utf8');
  expect(last.exit, `${last.stderr}\n${journal}`).toBe(0);

  const saved = readdirSync(join(cwd, 'out')).filter((name) => !name.endsWith('.part'));
  expect(saved).toHaveLength(jobs);
  await stopEmbedded(home);
  const database = new Database(join(data, 'regen.db'));
  const rows = (sql: string) => database.prepare(sql).all();
  expect(rows('select status, count(*) as count from tasks group by status')).toMatchObject([
    { status: 'COMPLETED', count: jobs },
  ]);
  expect(rows('select kind, count(*) as count from credits group by kind')).toMatchObject([
    { kind: 'charge', count: jobs },
  ]);
  database.close();
});
