import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { EngineFailure } from '../../src/service/operation/engine.js';
import { entry, homeForTest } from '../support/cli.js';
import { createFilmingEngine } from '../support/filming-engine.js';
import { packForTest } from '../support/packs.js';
import { folderForTest, publisherForTest, serviceForTest } from '../support/service.js';
import { runInShell } from '../support/transcript.js';

const hasTools = ['bash', 'jq'].every((name) => {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`]);
    return true;
  } catch {
    return false;
  }
});

/** Runs the script in a guide as it is written. */
function createScript(guide: string, env: Record<string, string>) {
  const bin = folderForTest();
  writeFileSync(join(bin, 'regen'), `#!/bin/sh\nexec ${process.execPath} ${entry} "$@"\n`, { mode: 0o755 });
  const [, script = ''] = /```bash\n([\s\S]*?)```/.exec(readFileSync(guide, 'utf8')) ?? [];
  writeFileSync(join(bin, 'script.sh'), script);
  const home = homeForTest();
  return (line: string, more: Record<string, string> = {}) =>
    runInShell(`bash ${bin}/script.sh ${line}`, {
      ...{ PATH: `${bin}:${process.env.PATH}`, HOME: home, ...env, ...more },
    });
}

test.skipIf(!hasTools)(
  'the script in the guide on CI tells by exit code what became of a version',
  { timeout: 60_000 },
  async () => {
    const service = await serviceForTest();
    const { personalAccessToken } = await publisherForTest(service);
    const publish = createScript('docs/ci.md', {
      ...{ REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken },
    });
    const published = 'pack 1.0.0 is published: NodeVersionStatusActive\n';
    expect(await publish(packForTest())).toEqual({ exit: 0, text: published });
    expect(await publish(packForTest())).toEqual({ exit: 0, text: published });
    const other = "class Other:\n    FUNCTION = 'run'\n\n\nNODE_CLASS_MAPPINGS = {'Other': Other}\n";
    const key = ['AKIA', 'Q3EGRIT5X7KLMZPW'].join('');
    const results = [
      await publish(packForTest({ files: { 'more.py': '' } })),
      await publish(packForTest({ version: '1' })),
      await publish(packForTest({ version: '2.0.0' }), { REGEN_PUBLISH_TOKEN: 'wrong' }),
      await publish(packForTest({ version: '1.0.1', files: { '__init__.py': other } })),
      await publish(
        packForTest({ version: '1.0.1', files: { '__init__.py': 'NODE_CLASS_MAPPINGS = load()' } }),
      ),
      await publish(packForTest({ version: '1.0.2', files: { 'nodes.py': `KEY = '${key}'\n` } })),
      // Never to a service on the runner.
      await publish(packForTest(), { REGEN_BASE_URL: '', REGEN_PUBLISH_TOKEN: '' }),
      await publish(packForTest(), { NODE_OPTIONS: '--no-such-option' }),
    ];
    expect(results.map(({ exit, text }) => [exit, text.split(':')[0]])).toEqual([
      [5, 'version_exists'],
      [2, 'invalid_pack'],
      [4, 'unauthenticated'],
      [6, 'breaking_changes'],
      [0, 'pack 1.0.1 is published'],
      [2, 'secrets_found'],
      [2, 'REGEN_BASE_URL is empty'],
      [9, process.execPath],
    ]);
    const text = results.map((result) => result.text).join('');
    expect(text).toContain('\n  nodes.py:1: AWS access key\n');
    expect(text).toContain('\n  Greet: node removed (workflows that use it no longer load)\n');
    expect(text).not.toContain('parse error');
  },
);

test.skipIf(!hasTools)(
  'the script in the guide on videos continues after each failure, and pays once',
  { timeout: 60_000 },
  async () => {
    const started: string[] = [];
    let isHeld = true;
    const video = createFilmingEngine(async ({ request }) => {
      const prompt = String(request.prompt);
      started.push(prompt);
      if (prompt === 'refused') throw new EngineFailure('The prompt was refused.');
      while (isHeld && prompt === 'slow') await pause(20);
    });
    const rules = [
      { operations: ['video.text2video'], nth: 1, drop: 'after' },
      { operations: ['video.text2video'], nth: 3, refuse: 'rate_limited', retryAfterSeconds: 600 },
    ];
    const scenario = { document: { rules }, seed: 1 };
    const service = await serviceForTest({}, { engines: { video }, scenario });
    const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
    const run = createScript('docs/generation.md', env);
    const cwd = folderForTest();
    const make = async (prompt: string, more: Record<string, string> = {}) => {
      const { exit, text } = await run(`${prompt} ${cwd}/${prompt}.mp4`, more);
      return [exit, text.split(':')[0]?.trim(), text.includes('nothing is paid for twice')];
    };
    expect(await make('lost')).toEqual([7, 'reset', true]);
    expect(await make('lost')).toEqual([0, `${cwd}/lost.mp4`, false]);
    expect(await make('busy')).toEqual([7, 'rate_limited', true]);
    expect(await make('busy')).toEqual([0, `${cwd}/busy.mp4`, false]);
    expect(await make('slow', { TIMEOUT: '1s' })).toEqual([8, 'still_running', true]);
    isHeld = false;
    expect(await make('slow')).toEqual([0, `${cwd}/slow.mp4`, false]);
    expect(await make('refused')).toEqual([6, 'task_failed', false]);
    expect(await make('any', { REGEN_TOKEN: 'wrong' })).toEqual([4, 'unauthenticated', false]);
    expect(await make('any', { NODE_OPTIONS: '--no-such-option' })).toEqual([9, process.execPath, false]);
    expect(started).toEqual(['lost', 'busy', 'slow', 'refused']);
  },
);
