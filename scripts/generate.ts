import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { commandTree } from '../src/cli/command-tree.js';
import { contract } from '../src/contract/index.js';
import { createOpenApiDocument } from '../src/contract/openapi.js';
import { formatChecksPage } from './checks-page.js';
import { formatConfigurationPage } from './configuration-page.js';
import { formatErrorsPage } from './errors-page.js';
import { formatApiPage } from './library-api.js';
import { formatReference } from './reference.js';
import { formatSkill } from './skill.js';
import { readIfPresent } from './write-if-changed.js';

/** Every file in the repository that is generated from the contract and the views. */
const files: Record<string, () => string> = {
  'package.json': listManualPages,
  'docs/api.md': formatApiPage,
  'docs/configuration.md': formatConfigurationPage,
  'docs/errors.md': formatErrorsPage,
  'docs/how-packs-are-checked.md': formatChecksPage,
  'docs/reference.md': () => formatReference(commandTree()),
  'skills/regen/SKILL.md': () => formatSkill(commandTree()),
  'docs/openapi.json': () =>
    `${JSON.stringify(createOpenApiDocument(contract, { version: readPackageVersion(), serverUrl: LOCAL }), null, 1)}\n`,
};

/** The package with its manual pages, which npm installs by their names. */
function listManualPages(): string {
  const text = readFileSync('package.json', 'utf8');
  const names = ['regen', ...commandTree().words.map((word) => `regen-${word}`)];
  const pages = names.map((name) => `    "./dist/man/${name}.1"`);
  return text.replace(/"man": \[[^\]]*\]/, `"man": [\n${pages.join(',\n')}\n  ]`);
}

/** Where `regen serve` listens by default. */
const LOCAL = 'http://127.0.0.1:7717';

function readPackageVersion(): string {
  return JSON.parse(readFileSync('package.json', 'utf8')).version;
}

const stale = Object.entries(files).filter(([path, make]) => readIfPresent(path) !== make());
if (process.argv.includes('--check')) {
  if (stale.length > 0) {
    console.error(`Not up to date: ${stale.map(([path]) => path).join(', ')}. Run: npm run generate`);
    process.exitCode = 1;
  }
} else {
  for (const [path, make] of stale) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, make());
  }
}
