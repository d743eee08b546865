import { describe, expect, it } from 'vitest';
import { findCollisions, findPathProblem, quoteName } from '../../src/pack/path.js';

describe('a path inside a pack', () => {
  it.each([
    'nodes.py',
    'web/js/nodes.js',
    '.github/workflows/publish.yml',
    'docs/naïve café.md',
    '日本語/説明.md',
    'a'.repeat(255),
    '..hidden/...file',
    'auxiliary.py',
    'console.log',
    'com10.py',
  ])('is accepted: %s', (path) => {
    expect(findPathProblem(path)).toBeUndefined();
  });

  it.each([
    ['../evil.py', 'leads out'],
    ['web/../../evil.py', 'leads out'],
    ['..', 'leads out'],
    ['/etc/passwd', 'absolute'],
    ['C:/Windows/evil.dll', 'absolute'],
    ['c:evil.dll', 'absolute'],
    ['web\\..\\evil.py', 'backslash'],
    ['nul\0.py', 'control character'],
    ['new\nline.py', 'control character'],
    ['\u001b[31mred.py', 'control character'],
    ['backwards\u202egnp.py', 'control character'],
    ['', 'no name'],
    ['web//nodes.js', 'empty part'],
    ['./nodes.py', 'empty part'],
    ['web/', 'empty part'],
    ['file.py:stream', 'Windows cannot store'],
    ['what?.py', 'Windows cannot store'],
    ['aux.py', 'reserved on Windows'],
    ['web/CON', 'reserved on Windows'],
    ['nul.tar.gz', 'reserved on Windows'],
    ['COM1', 'reserved on Windows'],
    ['trailing.', 'dot or a space'],
    ['trailing /nodes.py', 'dot or a space'],
    ['a'.repeat(256), '255 bytes'],
    [`${'abc/'.repeat(300)}x`, '1024 bytes'],
    ['broken\uFFFD.py', 'not valid UTF-8'],
  ])('is refused with a reason: %j', (path, word) => {
    expect(findPathProblem(path)).toContain(word);
  });
});

describe('paths side by side', () => {
  it('are free of collisions when every one is a name of its own', () => {
    expect(findCollisions(['a.py', 'b.py', 'a/b.py', 'a-b/c.py', 'ab/c.py'])).toEqual([]);
  });

  it('collide when they are the same, or the same but for case or Unicode form', () => {
    expect(findCollisions(['a.py', 'b.py', 'a.py'])).toEqual([{ path: 'a.py', with: 'a.py', kind: 'same' }]);
    expect(findCollisions(['Web/A.js', 'web/a.js'])).toHaveLength(1);
    expect(findCollisions(['caf\u00e9.py', 'cafe\u0301.py'])).toMatchObject([{ kind: 'case' }]);
  });

  it('collide when one needs a folder where another is a file', () => {
    expect(findCollisions(['web/a.js', 'web-b', 'web'])).toEqual([
      { path: 'web/a.js', with: 'web', kind: 'folder' },
    ]);
  });
});

describe('a name of unknown origin', () => {
  it('is printed without control characters and shortened', () => {
    expect(quoteName('a\u001b[2Jb\u202e')).toBe("'a\\u{1b}[2Jb\\u{202e}'");
    expect(quoteName('x'.repeat(5000)).length).toBeLessThan(210);
  });
});
