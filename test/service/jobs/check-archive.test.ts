import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { formatFindings } from '../../../src/service/jobs/check-archive.js';
import { zipOf } from '../../support/archives.js';
import { childrenRunning } from '../../support/children.js';
import { publisherForTest, register, serviceForTest, upload, versionOf } from '../../support/service.js';

it('lists each finding on a line, those of high severity first', () => {
  const finding = (severity: 'high' | 'low', line: number) =>
    ({ severity, file: 'a.py', line, message: 'reads keys', rule: 'keys' }) as never;
  expect(formatFindings([finding('low', 1), finding('high', 2)])).toBe(
    'a.py:2 reads keys (keys)\na.py:1 reads keys (keys)',
  );
});

it.skipIf(!existsSync('/proc/self/stat'))(
  'reads one archive after another in the same process, which ends with the service',
  async () => {
    const service = await serviceForTest();
    const publisher = await publisherForTest(service);
    const archive = await zipOf({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
    const processes: number[][] = [];
    for (const version of ['1.0.0', '1.0.1']) {
      const { signedUrl } = await register(publisher, version);
      await upload(signedUrl, archive);
      const readStatus = async () => (await versionOf(publisher, version)).status;
      await expect.poll(readStatus, { timeout: 30_000 }).toBe('NodeVersionStatusActive');
      processes.push(childrenRunning('pack-reader'));
    }
    expect(processes).toEqual([[expect.any(Number)], processes[0]]);
    await service.stop();
    expect(childrenRunning('pack-reader')).toEqual([]);
  },
);
