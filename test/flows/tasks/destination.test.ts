import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Destination } from '../../../src/flows/tasks/destination.js';

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'regen-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('only output paths that exist are looked up in the ledger', () => {
  const folder = createFolder();
  writeFileSync(join(folder, 'b.png'), '');
  const asked: string[] = [];
  const destination = new Destination(folder, '{name}.png', { force: false, receipt: false });
  destination.check(['a', 'b', 'c'], (path) => asked.push(path) > 0);
  expect(asked).toEqual([join(folder, 'b.png')]);
});

it.each([
  ['Été à la plage (1)', 'Été à la plage (1).png'],
  ["it's 100% wool", "it's 100% wool.png"],
  ['日本', '日本.png'],
  ['a/b\\c:d*e?f"g<h>i|j\u202e\n{n}', 'a_b_c_d_e_f_g_h_i_j___n_.png'],
  ['..hidden', '_hidden.png'],
  ['日'.repeat(100), expect.stringMatching(/^日{49,57}-[0-9a-f]{8}\.png$/)],
])('a result of %j is named %j', (name, expected) => {
  const folder = createFolder();
  const destination = new Destination(folder, '{name}.png', { force: false, receipt: false });
  expect(basename(destination.firstPath(name) as string)).toEqual(expected);
});

it.each(['png', 'webm', 'gif', 'avif'])(
  'a file with the extension of a %s result is in the way before it is paid for',
  (ext) => {
    const folder = createFolder();
    const destination = new Destination(folder, 'a.{ext}', { force: false, receipt: false });
    expect(() => destination.check(['a'])).not.toThrow();
    writeFileSync(join(folder, `a.${ext}`), '');
    expect(() => destination.check(['a'])).toThrow(`a.${ext}`);
  },
);
