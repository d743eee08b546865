import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeLargePack } from '../large-pack.js';
import { type Case, measureCommand, type Prepared } from '../measure.js';

const packing: Case = {
  name: 'pack 1 GB in 31,600 files',
  peer: '`zip -r -6`',
  compares: 'wallMs',
  bar: 0.6,
  rounds: 3,
  slow: true,
  async prepare(scratch): Promise<Prepared | { readonly missing: string }> {
    try {
      measureCommand(['zip', '-v']);
    } catch {
      return { missing: 'zip is not installed' };
    }
    const tree = join(scratch, 'tree');
    await writeLargePack(tree);
    const env = { ...process.env, HOME: scratch };
    const ours = join(scratch, 'ours.zip');
    const theirs = join(scratch, 'theirs.zip');
    const pack = [
      process.execPath,
      'bin/regen.js',
      'version',
      'pack',
      tree,
      '-o',
      ours,
      '--allow-secrets',
      '-q',
    ];
    return {
      runSubject: async () => {
        rmSync(ours, { force: true });
        return measureCommand(pack, { env });
      },
      runPeer: async () => {
        rmSync(theirs, { force: true });
        return measureCommand(['zip', '-q', '-r', '-6', theirs, '.'], { cwd: tree });
      },
    };
  },
};

export const engineCases: readonly Case[] = [packing];
