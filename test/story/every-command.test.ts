import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { homeWithService, startRegen } from '../support/cli.js';
import { serviceForTest } from '../support/service.js';

/** They run until they are stopped. */
const ENDLESS = ['serve', 'webhook listen'];

interface Described {
  readonly command: string;
  readonly arguments: readonly unknown[];
}

test('every command of the built program loads what it runs, each file once, and describes its errors', async () => {
  const { url, ownerToken } = await serviceForTest();
  const home = homeWithService();
  const env = {
    NODE_OPTIONS: `--require ${resolve('test/support/refuse-second-load.cjs')}`,
    REGEN_BASE_URL: url,
    REGEN_TOKEN: ownerToken,
    REGEN_CREDENTIAL_STORE: 'file',
    REGEN_NO_AUTOSTART: '1',
  };
  const run = (...argv: string[]) => startRegen(argv, { home, cwd: home, env }).ended;
  const { commands } = JSON.parse((await run('--help', '--json')).stdout) as { commands: Described[] };
  const left = commands.filter(({ command }) => !ENDLESS.includes(command));
  expect(left.length).toBeGreaterThan(100);
  const broken: string[] = [];
  const takeTurns = async () => {
    for (let next = left.pop(); next; next = left.pop()) {
      const words = [...next.command.split(' '), ...next.arguments.map(() => 'x1')];
      const { exit, stderr } = await run(...words);
      // 1 is an unexpected error, 70 a file that is evaluated twice.
      if ([1, 70].includes(exit)) broken.push(`${words.join(' ')}: ${stderr}`);
    }
  };
  await Promise.all([takeTurns(), takeTurns(), takeTurns()]);
  expect(broken).toEqual([]);
});
