import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STORE_ID } from '../../../src/service/storage/bind-storage.js';
import { createRawZip, type RawEntry } from '../../pack/raw-zip.js';
import {
  ask,
  folderForTest,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  uploadArchive,
} from '../../support/service.js';

const sound: RawEntry = { name: '__init__.py', content: 'NODE_CLASS_MAPPINGS = {}\n' };

const evil: RawEntry = {
  name: '__init__.py',
  content: 'import requests\ndef f():\n  exec(requests.get(u).text)\n',
};
/** Incompressible content, so that the archive is not a decompression bomb. */
const filler: RawEntry = { name: 'r.bin', content: Buffer.alloc(100_000), method: 0 };

const hostile: Record<string, { readonly archive: () => Buffer; readonly reason: RegExp }> = {
  'climbs out of its folder': {
    archive: () => createRawZip([sound, { name: '../evil.py', content: 'x' }]),
    reason: /\.\.\/evil\.py/,
  },
  'names a place on the disk': {
    archive: () => createRawZip([sound, { name: '/etc/passwd', content: 'x' }]),
    reason: /\/etc\/passwd/,
  },
  'holds a symbolic link': {
    archive: () => createRawZip([sound, { name: 'link', content: '/etc/passwd', mode: 0o120777 }]),
    reason: /'link' is a symbolic link/,
  },
  'is a bomb': {
    archive: () => createRawZip([{ name: 'zeros.bin', content: Buffer.alloc(50_000_000) }]),
    reason: /zip bomb/,
  },
  'has a wrong checksum': { archive: () => createRawZip([{ ...sound, crc: 1 }]), reason: /__init__\.py/ },
  'is not a zip': { archive: () => Buffer.from('MZ this is a program'), reason: /zip/ },
  'holds 100,000 entries': {
    archive: () =>
      createRawZip(
        Array.from({ length: 100_000 }, (_, index) => ({ name: `f${index}`, method: 0 })),
        { entryCount: 0xffff },
      ),
    reason: /entries/,
  },
  'pads the file that runs what it downloads': {
    archive: () => createRawZip([{ ...evil, content: `#${'x'.repeat(3_000_000)}\n${evil.content}` }, filler]),
    reason: /__init__\.py:4 Runs code that is read from the network\. \(remote-code\)/,
  },
  'hides code behind brackets without end': {
    archive: () => createRawZip([{ ...evil, content: evil.content + '['.repeat(2_000_000) }, filler]),
    reason: /^__init__\.py:1 Cannot be checked: its brackets nest more than 1000 deep\. \(unread-code\)$/,
  },
  'fills the memory of the parser': {
    archive: () => createRawZip([evil, { name: 'a.py', content: `x = ${'-'.repeat(390_000)}1\n` }, filler]),
    reason: /Runs code [\s\S]*a\.py:1 Cannot be checked: it takes too much memory to read\. \(unread-code\)/,
  },
  'holds a name twice': { archive: () => createRawZip([sound, sound]), reason: /__init__\.py/ },
};

test('every hostile archive becomes Flagged with a reason, and the service keeps running with a clean disk', async () => {
  const data = folderForTest();
  const service = await serviceForTest({ data });
  const publisher = await publisherForTest(service);
  const names = Object.keys(hostile);
  const versions = names.map((_, index) => `1.0.${index}`);
  for (const [index, name] of names.entries()) {
    const { signedUrl } = await registerVersion(publisher, versions[index]);
    const { status } = await uploadArchive(signedUrl, hostile[name]?.archive() as Buffer);
    expect({ name, status }).toEqual({ name, status: 200 });
  }
  for (const [index, name] of names.entries()) {
    const seen = () => readVersion(publisher, versions[index]);
    await expect.poll(async () => (await seen()).status).toBe('NodeVersionStatusFlagged');
    expect({ name, reason: (await seen()).status_reason }).toEqual({
      name,
      reason: expect.stringMatching(hostile[name]?.reason as RegExp),
    });
  }
  expect((await ask(`${service.url}/health`)).status).toBe(200);
  const files = readdirSync(join(data, 'objects'), {
    recursive: true,
    encoding: 'utf8',
    withFileTypes: true,
  });
  expect(
    files.filter(
      (file) => file.isFile() && file.name !== STORE_ID && !/^[0-9a-f-]{36}\.zip$/.test(file.name),
    ),
  ).toEqual([]);
  expect(files.filter((file) => file.isSymbolicLink())).toEqual([]);
});
