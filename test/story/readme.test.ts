import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { entry, homeWithService } from '../support/cli.js';
import { type Scene, scenesOf, seen, settled, withScenes } from '../support/transcript.js';

const page = readFileSync('README.md', 'utf8');

// UPDATE_TRANSCRIPT=1 writes what the commands show now into the page.
test('the transcript in the README is what happens', async () => {
  const home = homeWithService();
  const env = { PATH: process.env.PATH, HOME: home };
  const scenes = scenesOf(page);
  expect(scenes.length).toBeGreaterThan(2);
  const now: Scene[] = [];
  for (const { command } of scenes) {
    const { exit, text } = await seen(`${process.execPath} ${entry} ${command}`, env);
    now.push({ command, exit, shows: settled(text, home) });
  }
  if (process.env.UPDATE_TRANSCRIPT) writeFileSync('README.md', withScenes(page, now));
  else expect(now).toEqual(scenes);
});

test('the commands a stranger types first are in the README, and in the order they are needed', () => {
  expect(page).toContain('npm install && npx regen version publish examples/hello-nodes');
  expect(page).toContain('npm install && npm test');
});
