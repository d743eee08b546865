import { expect, it } from 'vitest';
import { findReleaseProblems } from '../../scripts/release-check.js';

const facts = {
  changelog: '# Changelog\n\n## Unreleased\n\n### Added\n\n- A flag.\n\n## 0.1.0\n\n### Fixed\n\n- A bug.\n',
  version: '0.2.0',
  tags: ['v0.1.0', ''],
  locked: { '': {}, 'node_modules/zod': { integrity: 'sha512-x' } },
  manifest: { name: 'regen-cli', description: 'A tool.', license: 'MIT', repository: { type: 'git' } },
  workflow: 'permissions:\n  id-token: write\nsteps:\n  - run: npm publish --provenance\n',
  published: ['0.1.0'],
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
  expect(findReleaseProblems({ ...facts, version: '0.1.0', tags: [], published: [] })).toEqual([
    'CHANGELOG.md lists 0.1.0 already. Raise the version in package.json.',
  ]);
});

it('refuses a lock file with a package that is not pinned by its hash', () => {
  const locked = { ...facts.locked, 'node_modules/a/node_modules/@b/c': { version: '1.0.0' } };
  expect(findReleaseProblems({ ...facts, locked })).toEqual([
    expect.stringContaining('package-lock.json has no hash for @b/c.'),
  ]);
});

it('refuses a package whose origin npm could not prove', () => {
  expect(findReleaseProblems({ ...facts, manifest: { ...facts.manifest, repository: undefined } })).toEqual([
    'package.json has no repository.',
  ]);
  expect(findReleaseProblems({ ...facts, manifest: { ...facts.manifest, private: true } })).toEqual([
    expect.stringContaining('says private'),
  ]);
  expect(findReleaseProblems({ ...facts, workflow: 'steps:\n  - run: npm publish\n' })).toEqual([
    expect.stringContaining("no '--provenance'"),
    expect.stringContaining("no 'id-token: write'"),
  ]);
});

it('refuses a version that the registry has, and says if it could not be asked', () => {
  expect(findReleaseProblems({ ...facts, published: ['0.2.0'] })).toEqual([
    '0.2.0 is published already. Raise the version in package.json.',
  ]);
  expect(findReleaseProblems({ ...facts, published: [] })).toEqual([]);
  expect(findReleaseProblems({ ...facts, published: undefined })).toEqual([
    'The registry could not be asked whether the name is free.',
  ]);
});
