import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { computeTreeDigest, sortByPath, toFileMode } from '../../src/pack/tree.js';

const hashText = (text: string) => createHash('sha256').update(text).digest('hex');
const createEntry = (path: string, content = path) => ({
  path,
  mode: '100644' as const,
  sha256: hashText(content),
});

describe('the tree digest', () => {
  it('is the SHA-256 of one sorted line per file', () => {
    const lines = [`a.py\0${'100644'}\0${hashText('A')}\n`, `b/run.sh\0${'100755'}\0${hashText('B')}\n`];
    const digest = computeTreeDigest([
      { path: 'b/run.sh', mode: '100755', sha256: hashText('B') },
      { path: 'a.py', mode: '100644', sha256: hashText('A') },
    ]);
    expect(digest).toBe(hashText(lines.join('')));
  });

  it('changes with a name, a mode and a content', () => {
    const before = computeTreeDigest([createEntry('a.py')]);
    expect(computeTreeDigest([createEntry('b.py', 'a.py')])).not.toBe(before);
    expect(computeTreeDigest([{ ...createEntry('a.py'), mode: '100755' }])).not.toBe(before);
    expect(computeTreeDigest([createEntry('a.py', 'other')])).not.toBe(before);
  });

  it('sorts by the bytes of UTF-8, where an emoji comes after U+FFEE', () => {
    const paths = ['\u{1F600}.py', '\uFFEE.py', 'é.py', 'z.py', 'Z.py'];
    expect(sortByPath(paths.map((path) => ({ path }))).map(({ path }) => path)).toEqual([
      'Z.py',
      'z.py',
      'é.py',
      '\uFFEE.py',
      '\u{1F600}.py',
    ]);
  });
});

describe('the mode of a file', () => {
  it.each([
    [0o644, '100644'],
    [0o664, '100644'],
    [0o755, '100755'],
    [0o700, '100755'],
    [0o100744, '100755'],
    [0o611, '100644'],
  ])('of %o is %s', (permissions, mode) => {
    expect(toFileMode(permissions)).toBe(mode);
  });
});
