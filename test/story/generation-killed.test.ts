import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { beforeWrites } from '../support/before-writes.js';
import { homeForTest, regen } from '../support/cli.js';
import { type GenerationDouble, generationDouble, mp4, png } from '../support/generation-double.js';
import { folderForTest } from '../support/service.js';

const cases = {
  'image relight': { argv: ['image', 'relight', 'photo.png'], output: 'out.png', made: png },
  'video text2video': {
    argv: [
      'video',
      'text2video',
      'a boat',
      '--images',
      'photo.png',
      '--callback-url',
      'https://example.com/',
    ],
    output: 'out.mp4',
    made: mp4,
  },
};

test.each(Object.entries(cases))(
  '%s, killed before any of its writes, leads to one task and one result',
  { timeout: 60_000 },
  async (_, { argv, output, made }) => {
    const double = await generationDouble();
    const folders = { home: homeForTest(), cwd: folderForTest() };
    writeFileSync(join(folders.cwd, 'photo.png'), png);
    const save = ['-o', output, '--receipt'];
    const run = (words: readonly string[]) => {
      const env = { REGEN_BASE_URL: double.url, REGEN_TOKEN: 'secret' };
      return regen(words, { ...folders, env, clock: { now: Date.now, sleep: async () => {} } });
    };

    // The disk of a killed process holds what another reads there at that moment: one run tells of all its deaths.
    const deaths: (() => void)[] = [];
    const end = beforeWrites(Object.values(folders), () => deaths.push(remember(folders, double)));
    const first = await run([...argv, ...save]);
    end();
    expect(first.exit, first.stderr).toBe(0);
    // The ledger three times at least, the file and its receipt.
    expect(deaths.length).toBeGreaterThan(8);

    for (const [point, goBack] of deaths.entries()) {
      goBack();
      const [entry] = JSON.parse((await run(['task', 'list', '--json'])).stdout);
      // What a person would do.
      const again = entry?.task_id ? ['task', 'wait', entry.task_id, '--force'] : argv;
      const second = await run([...again, ...save]);
      expect(second.exit, `${point}: ${second.stderr}`).toBe(0);
      expect({ point, tasks: double.tasks.size }).toEqual({ point, tasks: 1 });
      expect(readFileSync(join(folders.cwd, output)).equals(made)).toBe(true);
      const files = readdirSync(folders.cwd).filter((name) => !name.endsWith('.part'));
      expect(files.sort()).toEqual([output, `${output}.receipt.json`, 'photo.png']);
      expect(JSON.parse((await run(['task', 'list', '--json'])).stdout)).toHaveLength(1);
    }
  },
);

/** Keeps what lies in folders and what a service knows; @returns what brings that back. */
function remember(folders: Readonly<Record<string, string>>, double: GenerationDouble): () => void {
  const copy = folderForTest();
  for (const [name, folder] of Object.entries(folders)) cpSync(folder, join(copy, name), { recursive: true });
  const forget = double.remember();
  return () => {
    for (const [name, folder] of Object.entries(folders)) {
      rmSync(folder, { recursive: true });
      cpSync(join(copy, name), folder, { recursive: true });
    }
    forget();
  };
}
