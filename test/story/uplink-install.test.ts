import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { regen } from '../support/cli.js';
import { listFiles } from '../support/list-files.js';
import { hostForTest } from '../support/pack-registry.js';
import { packForTest } from '../support/packs.js';
import { ask, publisherForTest, serviceForTest } from '../support/service.js';

/** Folders of packs: real ones of REGEN_TEST_PACKS, if it is set. */
function listPacksForTest(): string[] {
  const real = process.env.REGEN_TEST_PACKS;
  if (real) return readdirSync(real).map((name) => join(real, name));
  return Array.from({ length: 8 }, (_, at) => {
    const files = {
      ...{ 'web/js/ünïcode.js': '//', 'a/b/c/d.txt': 'x\r\n', 'empty.txt': '', 'requirements.txt': `a${at}` },
      ...{ '.gitignore': 'cache/\n', 'big.bin': Buffer.alloc(at * 100_000, at), 'run.sh': '#!/bin/sh\n' },
    };
    const folder = packForTest({ name: `Pack-${at}`, version: `1.${at}.0`, files });
    chmodSync(join(folder, 'run.sh'), 0o755);
    return folder;
  });
}

test.each(['regen', 'comfy'])(
  'installs all packs through an uplink with the names of %s, and finds just what was done to three',
  async (naming) => {
    const far = await serviceForTest({ naming });
    const { personalAccessToken } = await publisherForTest(far);
    const env = {
      ...{ REGEN_BASE_URL: far.url, REGEN_TOKEN: far.ownerToken },
      REGEN_PUBLISH_TOKEN: personalAccessToken,
    };
    const allowing = [
      '--publisher',
      'acme',
      '--allow-findings',
      '--allow-secrets',
      '--allow-empty',
      '--json',
    ];
    const published = await regen(['version', 'publish', ...listPacksForTest(), ...allowing], { env });
    expect(published.exit, published.stderr).toBe(0);
    const nodes = JSON.parse(published.stdout).map(({ node_id }: { node_id: string }) => node_id) as string[];
    const near = await serviceForTest({ uplink: { url: far.url, naming } });
    const { change, customNodes, run } = hostForTest({ REGEN_BASE_URL: near.url });
    const installed = await change('install', ...nodes);
    expect(installed.exit, installed.stderr).toBe(0);
    expect(installed.answer.packs).toHaveLength(nodes.length);
    const audit = async () => {
      const { exit, stdout, stderr } = await run(['node', 'audit', 'custom_nodes', '--json']);
      expect(stderr).toBe('');
      const rows = JSON.parse(stdout) as Record<'node_id' | 'finding' | 'file', string | null>[];
      return [exit, ...rows.map(({ node_id, finding, file }) => [node_id, finding, file])];
    };
    expect(await audit()).toEqual([0]);

    const [flipped, added, banned] = [nodes[2], nodes[4], nodes[6]] as [string, string, string];
    const code = listFiles(join(customNodes, flipped)).find((path) => path.endsWith('.py')) as string;
    const bytes = readFileSync(join(customNodes, flipped, code));
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    writeFileSync(join(customNodes, flipped, code), bytes);
    writeFileSync(join(customNodes, added, 'added.py'), 'import os\n');
    const ban = { status: 'NodeStatusBanned', status_detail: 'it mines' };
    const path = `${far.url}/admin/nodes/${banned}`;
    expect((await ask(path, { method: 'PUT', token: far.ownerToken, json: ban })).status).toBe(200);
    expect(await audit()).toEqual([
      6,
      [flipped, 'changed', code],
      [added, 'added', 'added.py'],
      [banned, 'banned', null],
    ]);
  },
);
