import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entry, homeForTest } from '../support/cli.js';
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

test.skipIf(!hasTools)(
  'the script in the guide on CI tells by exit code what became of a version',
  { timeout: 60_000 },
  async () => {
    const service = await serviceForTest();
    const { personalAccessToken } = await publisherForTest(service);
    const bin = folderForTest();
    writeFileSync(join(bin, 'regen'), `#!/bin/sh\nexec ${process.execPath} ${entry} "$@"\n`, { mode: 0o755 });
    const [, script = ''] = /```bash\n([\s\S]*?)```/.exec(readFileSync('docs/ci.md', 'utf8')) ?? [];
    writeFileSync(join(bin, 'publish.sh'), script);
    const publish = (pack: string, env: Record<string, string> = {}) =>
      runInShell(`bash ${bin}/publish.sh ${pack}`, {
        ...{ PATH: `${bin}:${process.env.PATH}`, HOME: homeForTest() },
        ...{ REGEN_BASE_URL: service.url, REGEN_PUBLISH_TOKEN: personalAccessToken, ...env },
      });
    const published = 'pack 1.0.0 is published: NodeVersionStatusActive\n';
    expect(await publish(packForTest())).toEqual({ exit: 0, text: published });
    expect(await publish(packForTest())).toEqual({ exit: 0, text: published });
    const results = [
      await publish(packForTest({ files: { 'more.py': '' } })),
      await publish(packForTest({ version: '1' })),
      await publish(packForTest({ version: '2.0.0' }), { REGEN_PUBLISH_TOKEN: 'wrong' }),
      await publish(
        packForTest({ version: '1.0.1', files: { '__init__.py': 'NODE_CLASS_MAPPINGS = load()' } }),
      ),
      // Never to a service on the runner.
      await publish(packForTest(), { REGEN_BASE_URL: '', REGEN_PUBLISH_TOKEN: '' }),
    ];
    expect(results.map(({ exit, text }) => [exit, text.split(':')[0]])).toEqual([
      [5, 'version_exists'],
      [2, 'invalid_pack'],
      [4, 'unauthenticated'],
      [0, 'pack 1.0.1 is published'],
      [2, 'usage'],
    ]);
  },
);
