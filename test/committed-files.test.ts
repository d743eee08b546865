import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findUnpinned } from '../scripts/release-check.js';

// Written in parts, so that this file does not name it.
const registryHost = ['registry', 'npmjs', 'org'].join('.');

it('the lock file has no download addresses, so that every registry and cache can be used', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, object>;
  };
  const names = Object.keys(packages);
  expect(names).toContain('node_modules/fastify');
  expect(names.filter((name) => 'resolved' in (packages[name] as object))).toEqual([]);
});

it('the lock file pins every package by its hash, but for platforms that are added before a release', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  // `npm run release:check` refuses a release as long as one is missing.
  const others = findUnpinned(packages).filter((name) => !/^@napi-rs\/webcodecs-(?!linux-x64)/.test(name));
  expect(others).toEqual([]);
});

it('no committed file names the npm registry', () => {
  const paths = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0');
  expect(paths).toContain('package-lock.json');
  const files = paths.filter((path) => path !== '' && existsSync(path));
  expect(files.filter((path) => readFileSync(path).includes(registryHost))).toEqual([]);
});

/** What convention or a tool looks for at the top level; a test that writes there would leave a file in a commit. */
const TOP_LEVEL = [
  ...[
    '.ci',
    '.github',
    '.gitignore',
    '.npmrc',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'Containerfile',
    'LICENSE',
  ],
  ...[
    'README.md',
    'SECURITY.md',
    'action.yml',
    'bench',
    'bin',
    'biome.json',
    'completions',
    'docs',
    'examples',
  ],
  ...['knip.json', 'package-lock.json', 'package.json', 'scripts', 'skills', 'src', 'test'],
  ...['tsconfig.build.json', 'tsconfig.json', 'vitest.config.ts'],
];

it('the top level has nothing but what belongs there', () => {
  const paths = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean);
  const names = new Set(paths.map((path) => path.split('/')[0] as string));
  expect([...names].filter((name) => !TOP_LEVEL.includes(name))).toEqual([]);
});
