import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeWithService, startRegen } from '../support/cli.js';
import { folderForTest } from '../support/service.js';

/** The width and height that an MP4's first track says it has. */
function readSize(path: string): [width: number, height: number] {
  const bytes = readFileSync(path);
  const box = bytes.indexOf('tkhd');
  const end = box - 4 + bytes.readUInt32BE(box - 4);
  return [bytes.readUInt32BE(end - 8) / 65_536, bytes.readUInt32BE(end - 4) / 65_536];
}

test('without configuration, a video is made from a prompt and extended', async () => {
  const home = homeWithService();
  const cwd = folderForTest();
  const run = (...argv: string[]) =>
    startRegen(['video', ...argv, '--interval', '300ms'], { cwd, home }).ended;
  const size = ['--resolution', '540p', '--duration', '1', '--receipt'];
  const made = await run('text2video', 'a paper boat', '--aspect-ratio', '9:16', ...size, '-o', 'boat.mp4');
  expect({ exit: made.exit, stdout: made.stdout }, made.stderr).toEqual({
    exit: 0,
    stdout: `${join(cwd, 'boat.mp4')}\n`,
  });
  expect(made.stderr).toMatch(/Costs \d+ credits for a preview made on this machine; nothing is billed\./);
  expect(readSize(join(cwd, 'boat.mp4'))).toEqual([540, 960]);
  const receipt = JSON.parse(readFileSync(join(cwd, 'boat.mp4.receipt.json'), 'utf8'));
  expect(receipt).toMatchObject({ seed: expect.any(Number), credits: expect.any(Number) });

  const longer = await run('extend', '--from-task', receipt.task_id, ...size, '-o', 'longer.mp4');
  expect({ exit: longer.exit, stdout: longer.stdout }, longer.stderr).toEqual({
    exit: 0,
    stdout: `${join(cwd, 'longer.mp4')}\n`,
  });
});
