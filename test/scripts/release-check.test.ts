import { expect, it } from 'vitest';
import { findReleaseProblems } from '../../scripts/release-check.js';

const facts = {
  changelog: '# Changelog\n\n## Unreleased\n\n### Added\n\n- A flag.\n\n## 0.1.0\n\n### Fixed\n\n- A bug.\n',
  version: '0.2.0',
  tags: ['v0.1.0', ''],
  locked: { '': {}, 'node_modules/zod': { integrity: 'sha512-x' } },
};

it('lets a version with notes and a new number be released', () => {
  expect(findReleaseProblems(facts)).toEqual([]);
});

it.each([
  ['no section Unreleased', facts.changelog.replace('## Unreleased', '## Next'), 'has no section Unreleased'],
  [
    'an empty section',
    facts.changelog.replace('- A flag.\n', ''),
    'The section Unreleased of CHANGELOG.md is empty',
  ],
  ['entries without a heading', facts.changelog.replace('### Added\n', ''), 'has entries without a heading'],
  [
    'old entries without a heading',
    facts.changelog.replace('### Fixed\n', ''),
    'section 0.1.0 of CHANGELOG.md has',
  ],
  ['a heading of its own', facts.changelog.replace('### Added', '### News'), 'has a heading News; use Added'],
])('refuses a changelog with %s', (_, changelog, problem) => {
  expect(findReleaseProblems({ ...facts, changelog })).toEqual([expect.stringContaining(problem)]);
});

it('refuses a version that is tagged or listed already', () => {
  expect(findReleaseProblems({ ...facts, tags: ['v0.2.0'] })).toEqual([
    'v0.2.0 is tagged already. Raise the version in package.json.',
  ]);
  expect(findReleaseProblems({ ...facts, version: '0.1.0', tags: [] })).toEqual([
    'CHANGELOG.md lists 0.1.0 already. Raise the version in package.json.',
  ]);
});

it('refuses a lock file with a package that is not pinned by its hash', () => {
  const locked = { ...facts.locked, 'node_modules/a/node_modules/@b/c': { version: '1.0.0' } };
  expect(findReleaseProblems({ ...facts, locked })).toEqual([
    expect.stringContaining('package-lock.json has no hash for @b/c.'),
  ]);
});
