import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generationDoubleForTest, png } from '../../support/generation-double.js';
import { folderForTest } from '../../support/service.js';
import { startRegenInTerminal } from '../../support/terminal.js';

const photos = [1, 2, 3, 4, 5, 6].map((number) => `photo-${number}.png`);

test('progress is cut to a terminal that becomes narrower, and no message is erased', async () => {
  const double = await generationDoubleForTest({ stuck: () => true });
  const cwd = folderForTest();
  for (const photo of photos) writeFileSync(join(cwd, photo), png);
  const env = { REGEN_BASE_URL: double.url, REGEN_TOKEN: 'secret' };
  const terminal = startRegenInTerminal(['image', 'relight', ...photos], { cwd, env, columns: 100 });
  await terminal.shows('0 of 6 done');
  terminal.resize(30);
  await terminal.shows('Relighting 6 images (0 o…');
  expect(terminal.raw()).not.toContain('\x1b[1A');
  terminal.type('\x03');
  expect(await terminal.exit).toBe(130);
});
